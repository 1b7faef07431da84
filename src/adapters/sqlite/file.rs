//! One SQLite file in WAL mode: one guarded connection that writes, a few that read. Or none that writes.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Access;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Sqlite, Transaction};
use tokio::sync::{Mutex, MutexGuard};

use super::fault::{Flaw, StoreFault};
use super::schema::{Schema, SchemaError};

/// How long a statement waits for another process that writes, before it gives up.
pub const BUSY_WAIT: Duration = Duration::from_secs(5);

/// Connections that read.
pub const READERS_MAX: u32 = 4;

/// How long a reader waits for a free connection.
pub const READER_WAIT: Duration = Duration::from_secs(5);

/// Between two tries to switch a new file to WAL; SQLite itself does not wait for that lock.
const SWITCH_RETRY: Duration = Duration::from_millis(50);

/// The write-ahead log is cut back to this many bytes after a checkpoint.
const LOG_BYTES_KEPT: &str = "67108864";

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Loss of power: every commit waits for the disk. For facts.
    Full,
    /// The death of this process; the last moments may be lost with the power. For telemetry.
    Process,
}

/// An open file. Several processes may have it open.
#[derive(Debug)]
pub struct SqliteFile {
    schema: Schema,
    path: PathBuf,
    identity: (u64, u64),
    options: SqliteConnectOptions,
    writer: Mutex<Slot>,
    readers: SqlitePool,
}

/// The place of the one connection that writes.
#[derive(Debug)]
enum Slot {
    Idle(Box<SqliteConnection>),
    /// The last transaction did not end well, or was abandoned: the next one begins with a fresh connection.
    Vacant,
    /// It was opened to be read.
    Barred,
    Closed,
}

/// The right to write, and the connection to do it with. Unless `keep` is called at the end, the connection is
/// thrown away: nobody has to know in which state a failed or abandoned transaction left it.
#[derive(Debug)]
pub struct Writer<'a> {
    slot: MutexGuard<'a, Slot>,
    connection: Box<SqliteConnection>,
}

impl Writer<'_> {
    /// Begins a transaction that already holds the file's write lock.
    pub async fn begin(&mut self) -> Result<Transaction<'_, Sqlite>, sqlx::Error> {
        self.connection.begin_with("BEGIN IMMEDIATE").await
    }

    /// Keeps the connection for the next writer.
    pub fn keep(mut self) {
        *self.slot = Slot::Idle(self.connection);
    }
}

impl SqliteFile {
    /// Opens the file, makes it if it is not there, and brings it to the newest format.
    pub async fn open(path: &Path, schema: Schema, durability: Durability) -> Result<Self, StoreFault> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let fault = |flaw| StoreFault { store: schema.store, path: path.clone(), flaw };
        check_access(&path).map_err(fault)?;
        let options = options(&path, durability);
        let connection = prepare(&options, &schema).await.map_err(|error| match error {
            SchemaError::Refused(flaw) => fault(flaw),
            SchemaError::Sqlite(error) => fault(Flaw::of(&error, &path)),
        })?;
        let identity = fs::metadata(&path).map(|found| identity(&found)).map_err(|e| fault(Flaw::of_io(&e, &path)))?;
        let options = options.create_if_missing(false);
        let (readers, writer) = (readers(&options), Mutex::new(Slot::Idle(Box::new(connection))));
        Ok(Self { schema, path, identity, options, writer, readers })
    }

    /// Opens a file that this user may not write, to read it. Neither it nor its folder is touched, so it has to have the
    /// newest format already.
    pub async fn open_to_read(path: &Path, schema: Schema) -> Result<Self, StoreFault> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let fault = |flaw| StoreFault { store: schema.store, path: path.clone(), flaw };
        let found = fs::metadata(&path).map_err(|error| fault(Flaw::of_io(&error, &path)))?;
        let options = options_to_read(&path);
        inspect_only(&options, &schema).await.map_err(|error| match error {
            SchemaError::Refused(flaw) => fault(flaw),
            SchemaError::Sqlite(error) => fault(Flaw::of(&error, &path)),
        })?;
        let (readers, writer) = (readers(&options), Mutex::new(Slot::Barred));
        Ok(Self { schema, identity: identity(&found), path, options, writer, readers })
    }

    /// Which file this is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// It was opened to be read, since this user may not write it.
    pub async fn is_barred(&self) -> bool {
        matches!(*self.writer.lock().await, Slot::Barred)
    }

    /// What an error of the driver means for this file.
    pub fn fault(&self, error: &sqlx::Error) -> StoreFault {
        self.flawed(Flaw::of(error, &self.path))
    }

    fn flawed(&self, flaw: Flaw) -> StoreFault {
        StoreFault { store: self.schema.store, path: self.path.clone(), flaw }
    }

    /// Waits for the right to write.
    pub async fn writer(&self) -> Result<Writer<'_>, StoreFault> {
        let mut slot = self.writer.lock().await;
        self.check_identity()?;
        let connection = match std::mem::replace(&mut *slot, Slot::Vacant) {
            Slot::Idle(connection) => connection,
            Slot::Vacant => Box::new(self.connect().await?),
            Slot::Closed => {
                *slot = Slot::Closed;
                return Err(self.flawed(Flaw::Closed));
            }
            Slot::Barred => {
                *slot = Slot::Barred;
                return Err(self.flawed(Flaw::ReadOnly));
            }
        };
        Ok(Writer { slot, connection })
    }

    /// A connection that reads; it refuses to write.
    pub async fn reader(&self) -> Result<PoolConnection<Sqlite>, StoreFault> {
        self.check_identity()?;
        self.readers.acquire().await.map_err(|error| self.fault(&error))
    }

    /// One more connection, for a purpose of its own.
    pub async fn connect(&self) -> Result<SqliteConnection, StoreFault> {
        self.options.connect().await.map_err(|error| self.fault(&error))
    }

    /// Whether the path still leads to the file that was opened.
    pub fn is_in_place(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity)
    }

    /// A process that goes on writing to a file that was deleted or replaced would acknowledge what nobody can ever
    /// read again.
    fn check_identity(&self) -> Result<(), StoreFault> {
        if self.is_in_place() { Ok(()) } else { Err(self.flawed(Flaw::Moved)) }
    }

    /// Moves the write-ahead log into the file, as far as other processes let it.
    pub async fn checkpoint(&self) -> Result<(), StoreFault> {
        let mut writer = self.writer().await?;
        let moved = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut *writer.connection).await;
        moved.map_err(|error| self.fault(&error))?;
        writer.keep();
        Ok(())
    }

    /// Waits for the writer, moves the log into the file and closes every connection. Later uses are refused.
    pub async fn close(&self) -> Result<(), StoreFault> {
        let moved = self.checkpoint().await;
        let slot = std::mem::replace(&mut *self.writer.lock().await, Slot::Closed);
        let moved = if matches!(slot, Slot::Barred) { Ok(()) } else { moved };
        self.readers.close().await;
        if let Slot::Idle(connection) = slot {
            connection.close().await.map_err(|error| self.fault(&error))?;
        }
        match moved {
            Err(StoreFault { flaw: Flaw::Closed, .. }) => Ok(()),
            moved => moved,
        }
    }
}

fn options(path: &Path, durability: Durability) -> SqliteConnectOptions {
    let synchronous = match durability {
        Durability::Full => SqliteSynchronous::Full,
        Durability::Process => SqliteSynchronous::Normal,
    };
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .busy_timeout(BUSY_WAIT)
        .synchronous(synchronous)
        .pragma("journal_size_limit", LOG_BYTES_KEPT)
        .disable_statement_logging()
}

/// Where nobody has the file open, and nothing of it lies in a write-ahead log, SQLite needs to be told that it may do
/// without the two files that it would otherwise make beside it.
fn options_to_read(path: &Path) -> SqliteConnectOptions {
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        fs::metadata(PathBuf::from(name)).ok()
    };
    let is_whole = beside("-wal").is_none_or(|log| log.len() == 0 && beside("-shm").is_none());
    options(path, Durability::Process).create_if_missing(false).read_only(true).immutable(is_whole)
}

fn readers(options: &SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(READERS_MAX)
        .acquire_timeout(READER_WAIT)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_lazy_with(options.clone().pragma("query_only", "ON"))
}

/// Looks at the file without opening it: SQLite's own words for these are one and the same. The file must not be opened
/// here, since closing it would drop the locks this process may already have on it.
fn check_access(path: &Path) -> Result<(), Flaw> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    match fs::metadata(directory) {
        Ok(found) if found.is_dir() => {}
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(Flaw::Forbidden(directory.to_owned()));
        }
        _ => return Err(no_directory(directory)),
    }
    if path.is_dir() {
        return Err(Flaw::IsDirectory);
    }
    let may = |place: &Path, access| {
        rustix::fs::access(place, access).map_err(|errno| Flaw::of_io(&std::io::Error::from(errno), place))
    };
    if path.exists() {
        may(path, Access::READ_OK | Access::WRITE_OK)?;
    }
    may(directory, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK)
}

/// Something else may stand where a directory should be, there or further up.
fn no_directory(directory: &Path) -> Flaw {
    match directory.ancestors().find(|place| place.exists()) {
        Some(place) if !place.is_dir() => Flaw::NotADirectory(place.to_owned()),
        _ => Flaw::NoDirectory(directory.to_owned()),
    }
}

/// Nothing is written before the file is known to be ours or empty.
async fn prepare(options: &SqliteConnectOptions, schema: &Schema) -> Result<SqliteConnection, SchemaError> {
    let mut connection = options.connect().await?;
    schema.inspect(&mut connection).await?;
    switch_to_wal(&mut connection).await?;
    schema.migrate(&mut connection).await?;
    Ok(connection)
}

/// What cannot be brought to the newest format has to have it.
async fn inspect_only(options: &SqliteConnectOptions, schema: &Schema) -> Result<(), SchemaError> {
    let mut connection = options.connect().await?;
    let (found, known) = (schema.inspect(&mut connection).await?, schema.version());
    connection.close().await?;
    if found < known { Err(Flaw::Older { found, known }.into()) } else { Ok(()) }
}

/// The mode is kept in the file, so this writes once in the life of a file. Where two processes make the same file,
/// one of them has to try again.
async fn switch_to_wal(connection: &mut SqliteConnection) -> Result<(), SchemaError> {
    let mut tries = BUSY_WAIT.as_millis() / SWITCH_RETRY.as_millis();
    loop {
        let mode: Result<String, _> = sqlx::query_scalar("PRAGMA journal_mode = WAL").fetch_one(&mut *connection).await;
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => return Err(Flaw::NoSharedMemory.into()),
            Err(error) if tries > 0 && matches!(Flaw::of(&error, Path::new("")), Flaw::Locked) => tries -= 1,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(SWITCH_RETRY).await;
    }
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}
