//! A journal in PostgreSQL: who is let in, what a database may be, what other servers see, and what it survives.

use std::time::Duration;

use kura_console::adapters::journal::postgres::journal::PostgresJournal;
use kura_console::adapters::journal::postgres::watch::LOOK_EVERY;
use kura_console::adapters::postgres::database::Database;
use kura_console::adapters::presence::postgres::PostgresPresence;
use kura_console::adapters::results::postgres::PostgresResults;
use kura_console::adapters::vault::postgres::PostgresVault;
use kura_console::control::ports::{ApplyResult, Journal, Presence, ResultQuery, Results, Vault};
use kura_console::domain::ids::{AccountId, MachineId, ReleaseId, SecretVersion};
use kura_console::domain::observed::Telemetry;
use kura_console::domain::release::Outcome;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::beds::{Bed, Postgres};
use super::changes::{batch, fold};
use super::conformance;

fn account() -> AccountId {
    AccountId::named("acme")
}

async fn shell(url: &str) -> PgConnection {
    PgConnection::connect(url).await.unwrap()
}

async fn refused(url: &str) -> String {
    let problem = PostgresJournal::open(url).await.unwrap_err().problem();
    assert!(!problem.hints.is_empty(), "{problem}");
    let said = format!("{} {}", problem.message, problem.hints.join(" "));
    assert!(!said.contains("wrong-one") && !said.contains("only-for-tests"), "a password was shown: {said}");
    said
}

#[tokio::test]
async fn whoever_is_not_let_in_is_told_why_and_no_password_is_shown() {
    let Some(server) = Postgres::server() else { return };
    let (place, _name) = server.rsplit_once('/').unwrap();
    let said = refused(&format!("{place}/nobody-made-this")).await;
    assert!(said.contains("it does not exist") && said.contains("createdb"), "{said}");
    let (before, place) = server.rsplit_once('@').unwrap();
    let user = before.rsplit_once(':').unwrap().0;
    let said = refused(&format!("{user}:wrong-one@{place}")).await;
    assert!(said.contains("it does not let this user in"), "{said}");
    let said = refused("postgres://kura:wrong-one@127.0.0.1:1/kura").await;
    assert!(said.contains("it cannot be reached") && said.contains("postgres://kura@127.0.0.1:1/kura"), "{said}");
    let said = refused("postgres://kura@127.0.0.1:1/kura?ssl_mode=require").await;
    assert!(said.contains("`ssl_mode` means nothing"), "{said}");
}

#[tokio::test]
async fn a_certificate_is_checked_where_that_is_asked_for() {
    let Some(bed) = Postgres::bed().await else { return };
    let said = refused(&format!("{}&sslmode=verify-full", bed.url())).await;
    assert!(said.contains("no encrypted connection comes about") && said.contains("sslrootcert"), "{said}");
    let authority = std::env::var("KURA_CONSOLE_TEST_POSTGRES_CA").expect("tests/postgres/provision names it");
    let trusting = format!("{}&sslmode=verify-full&sslrootcert={authority}", bed.url());
    let journal = PostgresJournal::open(&trusting).await.unwrap();
    journal.append(batch(account(), 0, 2, 1)).await.unwrap();
    const ENCRYPTED: &str = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
         WHERE application_name = 'kura-console' AND ssl";
    let encrypted: Option<bool> = sqlx::query_scalar(ENCRYPTED).fetch_one(&mut shell(bed.url()).await).await.unwrap();
    assert_eq!(encrypted, Some(true));
}

#[tokio::test]
async fn a_database_is_made_once_and_one_of_the_future_is_left_alone() {
    let Some(bed) = Postgres::bed().await else { return };
    let said = Database::open_existing(bed.url()).await.unwrap_err().to_string();
    assert!(said.contains("there is no journal in it"), "{said}");
    let all = tokio::join!(bed.open(), bed.open(), bed.open());
    all.0.append(batch(account(), 0, 3, 1)).await.unwrap();
    assert_eq!(all.2.load(account()).await.unwrap(), fold(&batch(account(), 0, 3, 1).entries));
    Database::open_existing(bed.url()).await.unwrap();

    let mut shell = shell(bed.url()).await;
    let from_tomorrow = "INSERT INTO kura_console_steps (version, description, success, checksum, execution_time) \
         VALUES (1000, 'tomorrow', true, '\\x00', 0)";
    sqlx::raw_sql(from_tomorrow).execute(&mut shell).await.unwrap();
    assert!(refused(bed.url()).await.contains("made by a newer version"), "{}", refused(bed.url()).await);
    let yesterday = "DELETE FROM kura_console_steps WHERE version > 1";
    sqlx::raw_sql(yesterday).execute(&mut shell).await.unwrap();
    let said = Database::open_existing(bed.url()).await.unwrap_err().to_string();
    assert!(said.contains("made by an older version"), "{said}");
}

#[tokio::test]
async fn a_user_who_may_only_use_the_tables_is_enough_once_they_are_there() {
    let Some(bed) = Postgres::bed().await else { return };
    bed.open().await.append(batch(account(), 0, 3, 1)).await.unwrap();
    let (user, schema) = (format!("user_{}", bed.schema()), bed.schema());
    let grants = format!(
        "CREATE ROLE {user} LOGIN PASSWORD 'only-for-tests'; GRANT USAGE ON SCHEMA {schema} TO {user};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {user}"
    );
    sqlx::raw_sql(AssertSqlSafe(grants)).execute(&mut shell(bed.url()).await).await.unwrap();
    let limited = bed.url().replace("//kura:", &format!("//{user}:"));
    let journal = PostgresJournal::open(&limited).await.unwrap();
    assert_eq!(journal.append(batch(account(), 3, 1, 2)).await.unwrap().revision, 4);
}

#[tokio::test]
async fn facts_are_never_edited() {
    let Some(bed) = Postgres::bed().await else { return };
    let journal = bed.open().await;
    journal.append(batch(account(), 0, 40, 1)).await.unwrap();
    bed.archive(account(), 10).await;
    let mut shell = shell(bed.url()).await;
    for touch in [
        "UPDATE entries SET \"by\" = 'x'",
        "DELETE FROM entries",
        "UPDATE archived_links SET \"by\" = 'x'",
        "DELETE FROM archived_links",
    ] {
        let answer = sqlx::raw_sql(touch).execute(&mut shell).await;
        let links = touch.contains("archived_links");
        assert!(answer.is_err() || links && answer.unwrap().rows_affected() == 0, "{touch}");
    }
}

/// What a process holds that stops in the middle of an append is let go, and nothing of it is there.
#[tokio::test]
async fn whoever_freezes_in_the_middle_of_an_append_holds_nobody_up() {
    let Some(bed) = Postgres::bed().await else { return };
    let journal = bed.open().await;
    journal.append(batch(account(), 0, 3, 1)).await.unwrap();
    let frozen = Database::open(bed.url()).await.unwrap();
    let mut lease = frozen.lease().await.unwrap();
    let mut transaction = lease.writing().await.unwrap();
    sqlx::query("UPDATE heads SET revision = 99").execute(&mut *transaction).await.unwrap();
    let appended = async {
        loop {
            match journal.append(batch(account(), 3, 1, 2)).await {
                Ok(head) => return head,
                Err(error) => assert!(error.to_string().contains("could not append"), "{error}"),
            }
        }
    };
    let head = tokio::time::timeout(Duration::from_secs(20), appended).await.unwrap();
    assert_eq!(head.revision, 4);
    assert!(sqlx::query("UPDATE heads SET revision = 99").execute(&mut *transaction).await.is_err(), "it thaws");
}

#[tokio::test]
async fn connections_that_were_cut_are_made_anew_and_followers_hear_again() {
    const CUT: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE application_name = 'kura-console' AND pid <> pg_backend_pid() AND query LIKE '%kura_console_journal%'";
    let Some(bed) = Postgres::bed().await else { return };
    let (reader, writer) = (bed.open().await, bed.open().await);
    writer.append(batch(account(), 0, 1, 1)).await.unwrap();
    reader.follow(account(), 0).await.unwrap();
    let cut: i64 = sqlx::query_scalar(CUT).fetch_one(&mut shell(bed.url()).await).await.unwrap();
    assert!(cut >= 1, "nobody was listening");
    for revision in 1..4 {
        let follow = tokio::time::timeout(Duration::from_secs(10), reader.follow(account(), revision));
        let append = async {
            loop {
                if let Ok(head) = writer.append(batch(account(), revision, 1, revision)).await {
                    return head;
                }
            }
        };
        let (noticed, appended) = tokio::join!(follow, append);
        assert_eq!(noticed.unwrap().unwrap(), appended);
    }
}

/// Looking alone finds out about one append each `LOOK_EVERY`.
#[tokio::test]
async fn who_follows_is_told_and_does_not_only_look_now_and_then() {
    let Some(bed) = Postgres::bed().await else { return };
    let (reader, writer) = (bed.open().await, bed.open().await);
    writer.append(batch(account(), 0, 1, 1)).await.unwrap();
    reader.follow(account(), 0).await.unwrap();
    let heard = async {
        for revision in 1..9 {
            let append = writer.append(batch(account(), revision, 1, revision));
            let (noticed, appended) = tokio::join!(reader.follow(account(), revision), append);
            assert_eq!(noticed.unwrap(), appended.unwrap());
        }
    };
    assert!(tokio::time::timeout(3 * LOOK_EVERY, heard).await.is_ok(), "eight of them in the time of three looks");
}

fn result(run: i64) -> ApplyResult {
    let at = jiff::Timestamp::from_second(1_700_000_000 + run).unwrap();
    ApplyResult {
        machine: MachineId::named("ash"),
        release: ReleaseId::named("v1"),
        generation: 1,
        outcome: Outcome::Failed,
        started_at: at,
        finished_at: at,
        received_at: at,
        changed_count: 3,
        failed_states: Vec::new(),
        log_tail: "the end\u{0}".to_owned(),
        rebuilds: None,
    }
}

/// What one server was told, another one tells: results, presence, contents, secrets.
#[tokio::test]
async fn what_lies_beside_the_journal_is_shared_by_its_servers() {
    let Some(bed) = Postgres::bed().await else { return };
    let (one, two) = (Database::open(bed.url()).await.unwrap(), Database::open(bed.url()).await.unwrap());

    let (here, there) = (PostgresResults::on(one.clone()), PostgresResults::on(two.clone()));
    here.probe().await.unwrap();
    for run in [1, 2, 2] {
        here.file(account(), result(run)).await.unwrap();
    }
    let newest = ResultQuery { limit: 10, ..ResultQuery::default() };
    assert_eq!(there.find(account(), newest).await.unwrap(), [result(2), result(1)]);
    let others = ResultQuery { machine: Some(MachineId::named("birch")), ..newest };
    assert_eq!(there.find(account(), others).await.unwrap(), []);
    assert_eq!(there.telemetry(), Telemetry::Readable);

    let (here, there) = (PostgresPresence::on(one.clone()), PostgresPresence::on(two.clone()));
    let (ash, at) = (MachineId::named("ash"), result(1).started_at);
    here.saw(account(), ash, at);
    there.saw(account(), ash, at - jiff::SignedDuration::from_secs(9));
    here.flush().await.unwrap();
    there.flush().await.unwrap();
    assert_eq!(there.seen(account()).get(&ash), Some(&at), "the later of two polls counts");
    there.saw(account(), MachineId::named("birch"), at);
    there.flush().await.unwrap();
    here.flush().await.unwrap();
    assert_eq!(here.seen(account()), there.seen(account()));

    let (here, there) = (PostgresVault::on(one), PostgresVault::on(two));
    let digest = here.keep(b"states".to_vec()).await.unwrap();
    assert_eq!(here.keep(b"states".to_vec()).await.unwrap(), digest);
    assert_eq!(there.fetch(&digest).await.unwrap().as_deref(), Some(&b"states"[..]));
    let (version, other) = (SecretVersion::named("1"), AccountId::named("other"));
    here.keep_secret(account(), version, "hunter1".to_owned()).await.unwrap();
    assert_eq!(there.secret(account(), version).await.unwrap().as_deref(), Some("hunter1"));
    assert_eq!(there.secret(other, version).await.unwrap(), None);
    there.drop_secret(account(), version).await.unwrap();
    assert_eq!(here.secret(account(), version).await.unwrap(), None);
}

#[tokio::test]
async fn only_the_newest_results_of_an_account_are_kept() {
    let Some(bed) = Postgres::bed().await else { return };
    let results = PostgresResults::tuned(Database::open(bed.url()).await.unwrap(), 10, Duration::from_secs(5));
    for run in 0..256 {
        results.file(account(), result(run)).await.unwrap();
    }
    let found = results.find(account(), ResultQuery { limit: 1_000, ..ResultQuery::default() }).await.unwrap();
    assert_eq!((found.len(), &found[0]), (10, &result(255)));
}

/// What fences is tried by its own name here as well: mutants of the database are found by it.
#[tokio::test]
async fn two_writers_never_append_to_the_same_head() {
    let Some(bed) = Postgres::bed().await else { return };
    conformance::many_writers_lose_and_repeat_nothing(bed).await;
}

#[tokio::test]
async fn whoever_lost_the_seat_appends_nothing() {
    let Some(bed) = Postgres::bed().await else { return };
    conformance::a_seat_raises_the_epoch_and_deposes_the_old_holder(bed).await;
}

#[tokio::test]
async fn whoever_lost_the_seat_shows_no_sign_of_life() {
    let Some(bed) = Postgres::bed().await else { return };
    conformance::the_last_beat_of_the_newest_epoch_stays(bed).await;
}
