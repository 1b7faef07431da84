# shellcheck shell=bash disable=SC2034,SC2119,SC2120 # what is left in variables is read by scripts/runbook
# What the chapters of the runbook are written in: a control plane of its own, calls, agents, and what must be so.

# How long anything may take before the runbook gives up on it, in seconds.
PATIENCE=20

URL='' TOKEN='' CODE='' ANSWER='' HEADERS='' ASSIGNMENT='' SERVER_PID=''
declare -A TOKENS=() MACHINES=() RUNS=()

say() { printf '%s\n' "   $*"; }

chapter() { printf '%s\n' "-- $*"; }

fail() {
    printf '%s\n' "runbook: $1" "   last answer: $CODE $ANSWER" >&2
    [ ! -s "$FOLDER/log" ] || tail -n 5 "$FOLDER/log" >&2
    exit 1
}

# serve FOLDER: a control plane on a free port, ticking each second, with a journal in that folder.
serve() {
    "$PROGRAM" serve --listen 127.0.0.1:0 --journal "sqlite:$1/kura.db" --tokens "$1/tokens.yaml" --create-tokens \
        --releases "$1/releases" --tick-seconds 1 --rate-limit 0 --log-format json >"$1/out" 2>"$1/log" &
    SERVER_PID=$!
    await "the control plane listens" listening
    URL=http://$(jq -r 'select(.message == "listening").address' "$1/log")
    local role
    for role in viewer operator owner agent; do
        TOKENS[$role]=$(awk -v role="$role" '$1 == role { print $2 }' "$1/out")
        [ -n "${TOKENS[$role]}" ] || fail "no token was printed for $role"
    done
    as operator
}

listening() { grep -q '"listening"' "$FOLDER/log"; }

stop_server() {
    [ -z "$SERVER_PID" ] || { kill "$SERVER_PID" && wait "$SERVER_PID"; } 2>/dev/null || true
    SERVER_PID=''
}

# await WHAT COMMAND...: until the command succeeds.
await() {
    local what=$1 end=$((SECONDS + PATIENCE))
    shift
    until "$@"; do
        kill -0 "$SERVER_PID" 2>/dev/null || fail "the control plane ended while waiting: $what"
        [ "$SECONDS" -lt "$end" ] || fail "$what: not within $PATIENCE s"
        sleep 0.1
    done
}

as() { TOKEN=${TOKENS[$1]}; }

# call METHOD PATH [BODY [CURL-FLAG...]]: leaves CODE, ANSWER and HEADERS.
call() {
    local method=$1 path=$2 body=${3:-}
    shift $(($# < 3 ? $# : 3))
    local flags=(-sS -X "$method" --max-time "$PATIENCE" -o "$FOLDER/answer" -D "$FOLDER/headers" -w '%{http_code}')
    [ -z "$TOKEN" ] || flags+=(-H "Authorization: Bearer $TOKEN")
    [ -z "$body" ] || flags+=(-H 'Content-Type: application/json' -d "$body")
    : >"$FOLDER/answer"
    CODE=$(curl "${flags[@]}" "$@" "$URL$path") || fail "$method $path: curl could not"
    ANSWER=$(<"$FOLDER/answer") HEADERS=$(<"$FOLDER/headers")
}

# expect CODE METHOD PATH [BODY [CURL-FLAG...]]: a call that must be answered with this code.
expect() {
    local code=$1
    shift
    call "$@"
    [ "$CODE" = "$code" ] || fail "$1 $2: $code was expected"
}

# want WHAT JQ-CONDITION [JQ-FLAG...]: what must hold of the last answer.
want() {
    local what=$1 condition=$2
    shift 2
    jq -e "$@" "$condition" >/dev/null <<<"$ANSWER" || fail "$what does not hold: $condition"
}

# take JQ-PATH: a text of the last answer.
take() { jq -er "$1" <<<"$ANSWER" || fail "the answer has no $1"; }

# status [WHAT JQ-CONDITION]: the status of the rollout, of which something must hold.
status() {
    expect 200 GET "/api/config/rollouts/$ROLLOUT/status?limit=500"
    [ $# -eq 0 ] || { say "$1" && want "$1" "$STATUS_WORDS $2"; }
}

# soon WHAT JQ-CONDITION: the same, once the tick has passed.
soon() {
    await "$1" status_holds "$2"
    say "$1"
}

status_holds() {
    status
    jq -e "$STATUS_WORDS $1" >/dev/null <<<"$ANSWER"
}

# Words for conditions on a status.
STATUS_WORDS='
def row(host): .machines[] | select(.hostname == host);
def holder: [.machines[] | select(.holds_slot).hostname];
def queue: [.machines[] | select(.state == "queued") | .queue_position];
'

# first ENVIRONMENT: leaves HEAD, who is next in the queue of an environment.
first() {
    status
    HEAD=$(take "[.machines[] | select(.environment == \"$1\" and .queue_position == 1).hostname][0]")
}

# machine HOST ENVIRONMENT RING: lets a machine join.
machine() {
    expect 201 POST /api/provisioning/machines/ "{\"hostname\": \"$1\", \"environment\": \"$2\", \"ring\": \"$3\"}"
    MACHINES[$1]=$(take .uuid)
}

# poll HOST: the agent of a machine says what it is at and asks what to converge on; leaves ASSIGNMENT, which may be null.
poll() {
    local have=${RUNS[$1]:-}
    [ -z "$have" ] || have="?have=$(jq -r '"\(.release_uuid):\(.generation)"' <<<"$have")"
    as agent
    expect 200 GET "/api/agent/assignment$have" '' -H "X-Machine: ${MACHINES[$1]}"
    as operator
    ASSIGNMENT=$(jq -c .assignment <<<"$ANSWER")
}

served() {
    poll "$1"
    [ "$ASSIGNMENT" != null ]
}

# granted HOST: asks until the slot is granted, and begins the run.
granted() {
    await "$1 is granted its slot" served "$1"
    RUNS[$1]=$ASSIGNMENT
}

# passed_over HOST...: machines that ask and get nothing, since somebody is before them.
passed_over() {
    local host
    for host in "$@"; do
        poll "$host"
        [ "$ASSIGNMENT" = null ] || fail "$host was served out of turn"
    done
}

# report HOST OUTCOME [STATE COMMENT]: how the run of a machine ended.
report() {
    local body
    body=$(jq -c --arg outcome "$2" --arg state "${3:-}" --arg comment "${4:-}" --arg now "$(date -u +%FT%T.%NZ)" '{
        release_uuid, generation, outcome: $outcome, started_at: $now, finished_at: $now, changed_count: 4,
        failed_states: (if $state == "" then [] else [{id: $state, name: $state, comment: $comment}] end),
        log_tail: "the end"}' <<<"${RUNS[$1]}")
    as agent
    expect 200 POST /api/agent/apply-results "$body" -H "X-Machine: ${MACHINES[$1]}"
    as operator
    unset "RUNS[$1]"
}

# converge HOST: one whole run of a machine.
converge() {
    granted "$1"
    report "$1" success
}

# build NAME: writes a release, has it built; leaves RELEASE.
build() {
    mkdir -p "$FOLDER/releases/$1/k8s"
    printf 'base:\n  "*":\n    - k8s\n' >"$FOLDER/releases/$1/top.sls"
    printf '%s\n' "${2:-converged: {test.nop: []\}}" >"$FOLDER/releases/$1/k8s/init.sls"
    expect 201 POST /api/config/releases/build-from-git \
        "{\"git_ref\": \"$1\", \"engine\": \"saltstack\", \"timeout_seconds\": 0, \"notes\": \"k8s 1.30 -> 1.31, cordon/drain arc\"}"
    RELEASE=$(take .uuid)
}
