# Shared by the scripts that users see. Source it: . "$here/scripts/progress.sh"; needs $logs, the folder for logs.
#
#     step NAME TEXT COMMAND...   says TEXT, runs COMMAND with its output in $logs/NAME.log; when it fails, shows the end and names the log
# shellcheck shell=sh disable=SC2154 # script and logs are set by the caller

say() { printf '%s\n' "$*" >&2; }

die() {
    say "$script: $*"
    exit 1
}

step() {
    step_log=$logs/$1.log
    say "$script: $2"
    shift 2
    "$@" >"$step_log" 2>&1 && return 0
    say "$script: this failed: $*"
    tail -n 15 "$step_log" | sed 's/^/    /' >&2
    die "the whole output is in $step_log"
}
