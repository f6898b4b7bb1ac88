#!/bin/sh
# stint @VERSION@ for a POSIX shell with curl or wget: exec, start, end, metric, exception, flush. It follows the rules of
# `stint exec` and shares its directory of kept events. A batch is a file first and is removed when Stint has it, so that
# a kill loses nothing. Functions return by variables, and the shell does itself what it can: each process costs a
# millisecond.
set -u
# All variables of this script. What the environment has under these names is put aside, and the command gets it back.
_stint_theirs=
for _stint_name in \
  KEEP_END LF MAX_KIB OUTPUT_CHARACTERS REASON_CHARACTERS TAIL_CHARACTERS VERSION again answer at at_dir before \
  blocked code command config count counts deadline detail dir draft each end events everything failed failure fault \
  fields file file_url fine first_s first_up found hash header here home how hurried ignored is_ours is_over item \
  items job joined kept key later left limit line lines looked mark meta micros n name of ok oldest only option \
  others output own own_dir own_mask part passed pause process quoted refusals refused refused_all relayed reset \
  rest result rows said sender sent sent_all service shifted signal silence start status stem stopped taken text \
  then tmp tries typed uid unkept until unwritable up url value wait_s why words worst wrote; do
  eval "[ -z \"\${$_stint_name+x}\" ] ||
    { _their_$_stint_name=\$$_stint_name _stint_theirs=\"\$_stint_theirs $_stint_name\"; }"
  unset -v "$_stint_name"
done
VERSION='@VERSION@'
LF='
'
TAIL_CHARACTERS=12000 OUTPUT_CHARACTERS=4096 REASON_CHARACTERS=2000
MAX_KIB=32768

usage() {
  cat <<'HELP'
stint exec [--process P] [--meta M] [--uid U] [--ok CODES] [--output | --no-output] [--wait SPAN] -- COMMAND [ARGUMENT…]
stint start PROCESS [--meta M] [--uid U]           prints the uid of the run
stint end PROCESS [--meta M] [--uid U] [--failed]
stint metric PROCESS [--meta M] [--uid U] NAME=VALUE…
stint exception PROCESS [--meta M] [--uid U] [TEXT]   without TEXT: standard input
stint flush [--all]            sends what was kept while Stint was away, and once more what it refused

Settings: STINT_URL, STINT_API_KEY or STINT_API_KEY_FILE, STINT_SERVICE, or ~/.config/stint.json (mode 600) with
{"url": "…", "api_key": "…"}.
HELP
}
say() { printf 'stint: %s\n' "$*" >&2; }
wrong() { say "$*; see stint --help"; exit 2; }

# ---- settings: sets url, key, header, and fault if there is no usable key
read_settings() {
  url=${STINT_URL:-} key=${STINT_API_KEY:-} service=${STINT_SERVICE:-${SERVICE_NAME:-}} fault=
  case ${XDG_CONFIG_HOME:-} in /*) config=$XDG_CONFIG_HOME ;; *) config=${HOME:-}/.config ;; esac
  config=$config/stint.json
  if [ -z "$key" ] && [ -n "${STINT_API_KEY_FILE:-}" ]; then
    key=$(cat "$STINT_API_KEY_FILE" 2>/dev/null) || fault="cannot read STINT_API_KEY_FILE: file $STINT_API_KEY_FILE"
  fi
  if [ -f "$config" ]; then
    case $(ls -ldL "$config") in
      -???------*) read_file ;;
      *) [ -n "$url" ] && [ -n "$key" ] || fault="other users have access to $config; run chmod 600 $config" ;;
    esac
  fi
  url=${url:-http://127.0.0.1:7070}
  while [ "${url%/}" != "$url" ]; do url=${url%/}; done
  case $url in http://?* | https://?*) ;; *) wrong "invalid STINT_URL: expected an address such as http://127.0.0.1:7070" ;; esac
  case $key in *[[:space:][:cntrl:]\"\\]*) key= fault='invalid STINT_API_KEY: expected one key and nothing else' ;; esac
  [ -n "$key" ] || fault=${fault:-no API key; set STINT_API_KEY, or api_key in ~/.config/stint.json}
  header=x-${service:-stint}-api-key
}
read_file() { # the key of the file goes to the url of the file alone
  member() { sed -n 's/.*"'"$1"'"[[:space:]]*:[[:space:]]*"\([^"\\]*\)".*/\1/p' "$config" | head -n 1; }
  file_url=$(member url) service=${service:-$(member service)} url=${url:-$file_url}
  if [ -z "$key$fault" ] && { [ -z "$file_url" ] || [ "$file_url" = "$url" ]; }; then key=$(member api_key); fi
}

# ---- events as JSON
json() { # standard input as the content of a JSON string in ASCII; $1: only so many characters of its end; $2: no data
  LC_ALL=C od -An -v -tu1 | LC_ALL=C awk -v max="${1:-0}" -v text_only="${2:-0}" '
    BEGIN { for (i = 32; i < 127; i++) ascii[i] = sprintf("%c", i); n = need = 0 }
    { for (i = 1; i <= NF; i++) {
        b = $i + 0
        if (b == 0 && text_only) { data = 1; exit }
        if (need > 0 && b >= low && b <= high) {
          code = code * 64 + b % 64; low = 128; high = 191
          if (--need == 0) out[n++] = code
          continue
        }
        if (need > 0) { out[n++] = 65533; need = 0 }
        low = 128; high = 191
        if (b < 128) out[n++] = b
        else if (b >= 194 && b < 224) { need = 1; code = b % 32 }
        else if (b >= 224 && b < 240) { need = 2; code = b % 16; if (b == 224) low = 160; if (b == 237) high = 159 }
        else if (b >= 240 && b < 245) { need = 3; code = b % 8; if (b == 240) low = 144; if (b == 244) high = 143 }
        else if (n > 0) out[n++] = 65533
      } }
    END {
      if (data) exit
      while (n > 0 && (out[n - 1] == 10 || out[n - 1] == 13 || out[n - 1] == 32)) n--
      for (i = max > 0 && n > max ? n - max : 0; i < n; i++) {
        c = out[i]
        if (c == 10) printf "\\n"
        else if (c == 34 || c == 92) printf "\\%s", ascii[c]
        else if (c in ascii) printf "%s", ascii[c]
        else if (c < 65536) printf "\\u%04x", c
        else printf "\\u%04x\\u%04x", 55296 + int((c - 65536) / 1024), 56320 + c % 1024
      }
    }'
}
quote() { # sets quoted
  case $1 in
    *[!a-zA-Z0-9' ._:/@=+-']* | *' ') quoted=\"$(printf %s "$1" | json)\" ;;
    *) quoted=\"$1\" ;;
  esac
}
subject() { # PROCESS META UID: sets fields
  quote "$1" && fields="\"process\":$quoted"
  [ -z "$2" ] || { quote "$2" && fields="$fields,\"meta\":$quoted"; }
  [ -z "$3" ] || { quote "$3" && fields="$fields,\"uid\":$quoted"; }
}
to_uid() { # changes uid, an id as its scheduler has it, into what Stint accepts; README.md has the rule
  case $uid in
    *[!abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-]*) ;;
    *[ABCDEFGHIJKLMNOPQRSTUVWXYZ]*) if [ ${#uid} -le 50 ]; then uid=$(printf %s "$uid" | LC_ALL=C tr A-Z a-z); return; fi ;;
    *) [ ${#uid} -gt 50 ] || return 0 ;;
  esac
  hash=$(printf %s "$uid" | { sha256sum 2>/dev/null || shasum -a 256 2>/dev/null || openssl dgst -sha256 -r; } | cut -c1-8)
  uid=$(printf %s "$uid" | LC_ALL=C tr A-Z a-z | LC_ALL=C tr -c a-z0-9_- - | cut -c1-41)-$hash
}
new_uid() {
  if { read -r uid </proc/sys/kernel/random/uuid; } 2>/dev/null; then
    split - "$uid"
    uid=$words
  else uid=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n'); fi
}
split() { # SEPARATORS TEXT: sets words, the text without them
  before=$IFS IFS=$1
  set -f
  set -- $2
  set +f
  IFS=
  words=$*
  IFS=$before
}
stamp_of() { split 'TZ:.-' "$1"; } # sets words
now() { # sets at. Where date has whole seconds only, the clock of the kernel says how much later than the first one it is
  at=$(date -u +%Y-%m-%dT%H:%M:%S.%6N 2>/dev/null)
  case $at in *.??????) case ${at##*.} in *[!0-9]*) ;; *) return ;; esac ;; esac
  at=$(date -u +%Y-%m-%dT%H:%M:%S).000000
  { read -r up _ </proc/uptime; } 2>/dev/null || return 0
  up=$((${up%.*} * 100 + 1${up#*.} - 100))
  first_s=${first_s:-$(date +%s)} first_up=${first_up:-$up}
  later=$((up - first_up))
  at=$(date -u -d "@$((first_s + later / 100))" +%Y-%m-%dT%H:%M:%S).$((1000000 + later % 100 * 10000))
  at=${at%.*}.${at##*.1}
}

# ---- kept events: a file is the body of one request to /v1/batch, a line for each event
place() { # sets home and dir; false if there is no place
  name=$(printf '%s\n%s' "$url" "$key" | { sha256sum || shasum -a 256 || openssl dgst -sha256 -r; } 2>/dev/null)
  name=${name%"${name#????????????????}"}
  case ${XDG_STATE_HOME:-} in /*) home=$XDG_STATE_HOME/stint ;; *) home=${HOME:+$HOME/.local/state/stint} ;; esac
  dir=$home/$name
  [ -n "$home" ] && make_dir "$dir" && return
  own=$(id -u)
  unwritable=${home:-\$XDG_STATE_HOME/stint} home=${TMPDIR:-/tmp}/stint-$own
  (umask 077 && mkdir "$home") 2>/dev/null
  case $(ls -ldn "$home" 2>/dev/null) in drwx------*" $own "*) ;; *) return 1 ;; esac
  dir=$home/$name
  make_dir "$dir"
}
make_dir() { { [ -d "$1" ] || (umask 077 && mkdir -p "$1") 2>/dev/null; } && [ -w "$1" ] && [ -n "$name" ]; }
write() { # FILE EVENTS: events are lines, each after the first begins with a comma
  draft=${1%/*}/.${1##*/}.tmp
  if [ -n "${own_mask:-}" ]; then { command printf '[%s\n]\n' "$2" >"$draft"; } 2>/dev/null # it is 077 already
  else (umask 077 && printf '[%s\n]\n' "$2" >"$draft") 2>/dev/null; fi && mv -f "$draft" "$1"
}
count_in() { echo $(($(wc -l <"$1") - 1)); }
make_room() {
  while [ "$(du -sk "$home" 2>/dev/null | cut -f1)" -gt $MAX_KIB ] 2>/dev/null; do
    oldest=$(ls -rt "$home"/*/*.json "$home"/*/refused/*.json 2>/dev/null | head -n 1)
    [ -n "$oldest" ] && rm -f "$oldest" && say 'removed the oldest file of kept events to make room' || return 0
  done
}
silent_for() { # SECONDS: was Stint silent within that time?
  then=$(date -r "$dir/.silent" +%s 2>/dev/null) && [ $(($(date +%s) - then)) -lt "$1" ]
}

# ---- delivery
curl_it() { # FILE SECONDS: prints the answer and its status; standard input has the header with the key
  exec curl -q -sS -K - -m "$2" -H 'Content-Type: application/json' -H 'expect:' --data-binary "@$1" \
    -w '\n%{http_code}' "$url/v1/batch" 2>&1
}
post() { # FILE SECONDS: sets status and answer. The key is no argument, which other users could see
  if command -v curl >/dev/null 2>&1; then
    case ${BASH_COMPAT:-${BASH_VERSION:-6}} in
      [1-4]* | 5.0* | 50*) answer=$(printf 'header = "%s: %s"\n' "$header" "$key" | curl_it "$@") ;; # its here-documents are files
      *) answer=$(curl_it "$@" <<HEADER
header = "$header: $key"
HEADER
      ) ;;
    esac
    status=${answer##*"$LF"} answer=${answer%"$LF"*}
  elif command -v wget >/dev/null 2>&1; then
    if wget --version 2>/dev/null | grep -q GNU; then
      (umask 077 && printf 'header = %s: %s\n' "$header" "$key" >"$dir/.wgetrc.$$")
      answer=$(WGETRC=$dir/.wgetrc.$$ wget -nv -S -O - -T "$2" -t 1 --max-redirect=0 --content-on-error \
        --header 'Content-Type: application/json' --post-file "$1" "$url/v1/batch" 2>&1)
      rm -f "$dir/.wgetrc.$$"
    else # that of busybox has no other place for the key, and often no time limit. It sends a second content type of its
      # own beside a header that is not written as Content-Type
      command -v timeout >/dev/null 2>&1 && limit="timeout $2" || limit=
      answer=$($limit wget -S -O - --header 'Content-Type: application/json' --header "$header: $key" \
        --post-file "$1" "$url/v1/batch" 2>&1)
      case $? in 124 | 143) answer='timed out' ;; esac
    fi
    status=$(printf '%s\n' "$answer" | sed -n 's/.*HTTP\/[0-9.]* \([0-9][0-9][0-9]\).*/\1/p' | tail -n 1)
  else
    status=000 answer='neither curl nor wget is installed'
  fi
}
explain() {
  detail=$(printf '%s' "$answer" | sed -n 's/.*"detail":"\([^"]*\)".*/\1/p' | head -n 1)
  detail=${detail%.}
  case ${status:-000} in
    000) why="cannot reach Stint at $url ($(printf '%s\n' "$answer" | sed '/^Connecting to /d' | head -n 1))" ;;
    *) why="$url answered $status${detail:+: $detail}" ;;
  esac
}
take() { # flush alone says how many
  [ -z "${counts:-}" ] || sent=$((${sent:-0} + $(count_in "$1")))
  if [ -n "${tmp:-}" ]; then rm -f "$1" "$tmp" "$tmp".* "$mark"; else rm -f "$1"; fi
}
send_one() { # FILE SECONDS: true if it is gone. 0 stored, 1 stays, 2 refused for good; sets why
  if [ -z "$key" ]; then why=$fault; return 1; fi
  post "$1" "$2"
  [ "$status" = 201 ] && take "$1" && return 0
  explain
  case $status in
    413 | 422)
      refused=$((${refused:-0} + 1))
      case ${refusals:-} in *"$why"*) ;; *) refusals=${refusals:-}${refusals:+; }$why ;; esac # each reason once
      make_dir "$dir/refused" && mv -f "$1" "$dir/refused/${again:-}${1##*/}"
      return 2
      ;;
    000 | '') case $answer in *imed\ out*) (: >"$dir/.silent") 2>/dev/null ;; esac ;;
  esac
  return 1
}
send_file() { # FILE SECONDS [LINES]: as send_one. Of a batch that is not stored as a whole, each event is sent by itself
  if [ "${3:-$(wc -l <"$1" 2>/dev/null || echo 0)}" -le 2 ]; then send_one "$1" "$2"; return; fi
  if [ -z "$key" ]; then why=$fault; return 1; fi
  post "$1" "$2"
  case $status in
    201) take "$1"; return 0 ;;
    207 | 413 | 422) ;;
    *)
      explain
      case $status$answer in 000*imed\ out*) (: >"$dir/.silent") 2>/dev/null ;; esac
      return 1
      ;;
  esac
  n=0 worst=0 stem=${1%.json}
  while IFS= read -r line; do
    case $line in ']'*) continue ;; esac
    n=$((n + 1))
    write "$stem-$n.json" "${line#?}" || return 1
  done <"$1"
  rm -f "$1"
  for part in "$stem"-*.json; do
    [ -e "$part" ] || continue
    send_one "$part" "$2"
    result=$?
    [ $result -le $worst ] || worst=$result
  done
  return $worst
}
send_kept() { # SECONDS: what was kept earlier, the oldest first, until Stint takes no more
  sent=0 refused=0 each=10
  set -- "$1" "$dir"/*.json
  [ -e "$2" ] || return 0
  until=$(($(date +%s) + $1))
  [ "$1" -ge 10 ] || each=$1
  for file in $(cd "$dir" && ls -rt -- *.json); do
    [ -e "$dir/$file" ] || continue
    send_file "$dir/$file" $each
    [ $? -ne 1 ] || return 1
    [ "$(date +%s)" -le $until ] || return 0
  done
}
send_refused() { # what an older script sent wrongly, or an older Stint did not know, once more and no more
  sent=0 refused=0 refusals='' again=again-
  for file in "$dir"/refused/*.json; do
    case ${file##*/} in again-* | '*'*) continue ;; esac
    send_file "$file" 10
    [ $? -ne 1 ] || { again=; return 1; }
  done
  again=
}
deliver() { # FILE SECONDS [LINES]: sends a file and what was kept before it, and says in one line what is not stored
  deadline=
  while :; do
    result=1
    if [ "$2" -gt 0 ]; then send_file "$@"; result=$?; else why='Stint was silent a moment ago'; fi
    [ "${status:-}" = 429 ] || break
    deadline=${deadline:-$(($(date +%s) + $2))}
    [ "$(date +%s)" -lt "$deadline" ] || break
    sleep 1
  done
  case $result in
    0) [ ! -e "$dir/.silent" ] || rm -f "$dir/.silent"; send_kept 1; return 0 ;;
    2) say "$why"; return 2 ;;
  esac
  make_room
  kept=0
  for file in "$1" "${1%.json}"-[0-9]*.json; do [ ! -e "$file" ] || kept=$((kept + $(count_in "$file"))); done
  if [ -n "${unkept:-}" ]; then say "$why; $kept events lost: cannot write $unwritable; set XDG_STATE_HOME"; return 1; fi
  [ $kept = 1 ] && say "$why; 1 event kept, sent later" || say "$why; $kept events kept, sent later"
  return 1
}

# ---- stint start|end|metric|exception
parse_flags() { # sets process meta uid failed, and rest: the other arguments, one a line
  process='' meta='' uid='' failed='' rest='' only=
  while [ $# -gt 0 ]; do
    case $only$1 in
      --meta | --uid | --process) [ $# -gt 1 ] || wrong "$1 needs a value" ;;
    esac
    case $only$1 in
      --meta) meta=$2; shift ;;
      --meta=*) meta=${1#*=} ;;
      --uid) uid=$2; shift ;;
      --uid=*) uid=${1#*=} ;;
      --failed) failed=1 ;;
      --) only='-- ' ;;
      --*) wrong "unknown option $1" ;;
      *) if [ -z "$process" ]; then process=$1; else rest=$rest${rest:+$LF}$1; fi ;;
    esac
    shift
  done
  [ -n "$process" ] || wrong "the process is missing"
  to_uid
}
send_event() { # KIND MORE-FIELDS
  read_settings
  now
  subject "$process" "$meta" "$uid"
  store
  stamp_of "$at"
  file=$dir/$words-$$.json
  write "$file" "{\"kind\":\"$1\",$fields$2,\"at\":\"${at}Z\"}" || { say "event lost: cannot write $dir"; exit 1; }
  wait_s=5
  silent_for 60 && wait_s=1
  silent_for 10 && wait_s=0
  deliver "$file" $wait_s
  result=$?
  [ $result -ne 2 ] && [ -z "${unkept:-}" -o $result -eq 0 ]
}
store() { # without a directory the events wait in a temporary one while they are sent
  place && return
  unkept=1 dir=$(mktemp -d) || { say "cannot write $unwritable; set XDG_STATE_HOME"; exit 1; }
  home=$dir
  trap 'rm -rf "$dir"' EXIT
}
run_metric() {
  parse_flags "$@"
  [ -n "$rest" ] || wrong 'NAME=VALUE is missing'
  items=
  while IFS= read -r item; do
    value=$(printf %s "${item##*=}" | tr -d ' ')
    case $item in ?*=*) ;; *) wrong "expected NAME=VALUE with a number, such as rows=120; got $item" ;; esac
    printf '%s\n' "$value" | grep -Eq '^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$' ||
      wrong "expected NAME=VALUE with a number, such as rows=120; got $item"
    value=$(printf '%s\n' "$value" | sed 's/^+//; s/^\(-*\)\./\10./; s/^\(-*\)0*\([0-9]\)/\1\2/; s/\.\([eE]\)/\1/; s/\.$//')
    quote "${item%=*}"
    items=$items${items:+,}$quoted:$value
  done <<ITEMS
$rest
ITEMS
  send_event metrics ",\"items\":{$items}"
}
run_exception() {
  parse_flags "$@"
  if [ -n "$rest" ]; then text=$(printf %s "$rest" | json 15000); else text=$(tail -c 60000 | json 15000); fi
  [ -n "$text" ] || { say 'the text of the exception is empty: nothing was sent'; exit 1; }
  send_event exception ",\"exception\":\"$text\""
}
run_flush() {
  read_settings
  place || { say "cannot write $unwritable; set XDG_STATE_HOME"; exit 1; }
  everything=${1:-} counts=1 own_dir=$dir sent_all=0 refused_all=0 left=0 others=0 stopped='' why=
  for dir in "$home"/????????????????; do
    [ -d "$dir" ] || continue
    is_ours=
    if [ "$dir" = "$own_dir" ] || [ "$everything" = --all ]; then
      is_ours=1
      send_refused || stopped=1
      [ "$refused" = 0 ] || say "refused again: $refused of the events in $dir/refused, which stay there ($refusals)"
      sent_all=$((sent_all + sent)) sent=0 refused=0
      [ -n "$stopped" ] || send_kept 86400 || stopped=1
      sent_all=$((sent_all + ${sent:-0})) refused_all=$((refused_all + ${refused:-0})) sent=0 refused=0
    fi
    here=0
    for file in "$dir"/*.json; do [ ! -e "$file" ] || here=$((here + $(count_in "$file"))); done
    if [ -n "$is_ours" ]; then left=$((left + here)); else others=$((others + here)); fi
  done
  line="$sent_all sent, $refused_all refused, $left left"
  [ "$others" = 0 ] || line="$line, $others for another address or key (--all sends them here)"
  [ -z "$stopped" ] || { say "$line: $why"; exit 1; }
  echo "$line"
}

# ---- stint exec
parse_exec() { # sets process meta uid ok wait_s, and shifted: how many arguments come before the command
  process='' meta='' uid='' ok=' ' wait_s=10 output=${STINT_OUTPUT:-} shifted=0
  while [ $# -gt 0 ]; do
    option=$1 taken=1
    case $option in
      --) shifted=$((shifted + 1)); return ;;
      --process=* | --meta=* | --uid=* | --ok=* | --wait=*) value=${option#*=} option=${option%%=*} ;;
      --process | --meta | --uid | --ok | --wait)
        [ $# -gt 1 ] || wrong "$option needs a value"
        value=$2 taken=2
        ;;
      --output) output=1 ;;
      --no-output) output=0 ;;
      --help | -h) usage; exit 0 ;;
      -*) wrong "unknown option $option" ;;
      *) return ;;
    esac
    case $option in
      --process) process=$value ;;
      --meta) meta=$value ;;
      --uid) uid=$value ;;
      --ok)
        case ,$value, in *[!0-9,]* | *,,*) wrong 'invalid --ok: expected exit codes from 0 to 255 such as 3 or 3,4' ;; esac
        ok=" $(printf %s "$value" | tr , ' ') "
        ;;
      --wait)
        wait_s=${value%[smh]}
        case $wait_s in '' | *[!0-9]*) wrong 'invalid --wait: expected a span such as 0, 5s or 1m' ;; esac
        case $value in *m) wait_s=$((wait_s * 60)) ;; *h) wait_s=$((wait_s * 3600)) ;; esac
        ;;
    esac
    shift $taken
    shifted=$((shifted + taken))
  done
}
find_command() { # sets failure, code and looked if the command cannot be run
  failure='' code=0 looked=
  case $1 in
    */*) [ -e "$1" ] || { failure='command not found' code=127; return; }
      { [ -x "$1" ] && [ ! -d "$1" ]; } || { failure='permission denied' code=126; } ;;
    *)
      found='' blocked='' before=$IFS
      IFS=:
      for at_dir in $PATH; do
        [ -f "${at_dir:-.}/$1" ] || continue
        if [ -x "${at_dir:-.}/$1" ]; then found=1; else blocked=1; fi
      done
      IFS=$before
      [ -z "$found" ] || return
      if [ -n "$blocked" ]; then failure='permission denied' code=126; return; fi
      failure='command not found' code=127 looked="looked in PATH=$PATH"
      ;;
  esac
}
# A shell starts what it does not wait for with SIGINT and SIGQUIT ignored. Bash undoes that, GNU env too; elsewhere the
# command gets SIGTERM instead.
find_reset() {
  reset='' typed=TERM
  if [ -n "${BASH_VERSION:-}" ]; then reset=bash typed=INT
  else
    case $ignored in *[0189]) ! env --default-signal=INT true 2>/dev/null || reset=env typed=INT ;; esac
  fi
}
read_status() { # sets ignored, the signals as a mask, and own_mask, with which the command starts; files of ours are private
  ignored='' own_mask=
  while read -r name value _; do
    case $name in Umask:) own_mask=$value ;; SigIgn:) ignored=$value; break ;; esac
  done 2>/dev/null </proc/$$/status
  own_mask=${own_mask:-$(umask)}
  umask 077
}
start_command() {
  umask "$own_mask"
  : >"$mark" # from here on a signal ends this shell, or the command that it becomes
  case $reset in
    bash) trap - INT QUIT ;;
    env) case $1 in *=*) ;; *) set -- env --default-signal=INT,QUIT -- "$@" ;; esac ;;
  esac
  for _stint_name in $_stint_theirs; do eval "export $_stint_name=\"\$_their_$_stint_name\""; done
  exec "$@"
}
relay() { # SIGNAL: to the command, also to one that is about to start; after its end it ends the waiting
  relayed=$1 passed=${2:-$1}
  if [ -n "$job" ]; then pass; elif [ -n "$is_over" ]; then hurried=1; fi
}
pass() { # the signal, when the command has none of the traps of this shell any more
  tries=0
  until [ -e "$mark" ] || [ $tries -ge 50 ]; do tries=$((tries + 1)); sleep 0.02 2>/dev/null || { sleep 1; tries=$((tries + 10)); }; done
  kill -s "$passed" "$job" 2>/dev/null
}
nap() { # longer each time, and fewer
  tries=$((tries + 1))
  case $tries in 1) pause=0.02 ;; 2) pause=0.05 ;; 3) pause=0.1 ;; *) pause=0.2 ;; esac
  sleep $pause 2>/dev/null || { sleep 1; tries=9; }
}
# Passes bytes on at once, and after a silence of 10 ms appends them to a file: of a gigabyte little but the end. A file
# that has 48,000 bytes is followed by the next one; the one before it stays. When the run is over cat takes its place.
KEEP_END='
  my ($tmp, $name) = @ARGV;
  my ($at, $n, $size, $new, $broken) = ("$tmp.$name", 1000000, 0, "", 0);
  my ($readable, $writable) = ("\1", "\2"); # bits of standard input and output
  my ($interrupted, $busy, $busy_bsd, $closed) = (4, 11, 35, 32);
  $SIG{PIPE} = "IGNORE";
  sub is_kept {
    return 1 if -e "$tmp.pipe-$name";
    unlink "$at.$n", "$at." . ($n - 1), "$tmp.done-$name";
    exec "cat";
  }
  sub save {
    $new = substr $new, -48000 if length $new > 48000;
    if ($size >= 48000) { unlink "$at." . ($n - 1); $n++; $size = 0 }
    open my $file, ">>", "$at.$n" or return;
    $size += syswrite($file, $new) || 0;
    $new = "";
  }
  COPY: for (;;) {
    save if $new ne "" and !select(my $bits = $readable, undef, undef, 0.01) and is_kept;
    my $got = sysread STDIN, my $bytes, 65536;
    next if !defined $got and $! == $interrupted;
    last if !$got;
    $new .= $bytes; # also what nobody reads any more
    for (my $done = 0; $done < $got and !$broken;) {
      my $sent = syswrite STDOUT, $bytes, $got - $done, $done;
      if (defined $sent) { $done += $sent }
      elsif ($! == $busy or $! == $busy_bsd) { select(undef, my $bits = $writable, undef, undef) }
      elsif ($! == $closed) { last COPY }
      elsif ($! != $interrupted) { $broken = 1 }
    }
    save if length $new > 1000000 and is_kept;
  }
  save if is_kept;
  open my $done, ">", "$tmp.done-$name";
  is_kept'
pass_on() { # NAME: passes standard input on and keeps its end in files, until the script removes them with its pipe
  trap '' INT QUIT TERM HUP
  # Where there is Perl a gigabyte costs half of what it costs with tee and dd
  if command -v perl >/dev/null; then
    unset PERL5OPT PERL_UNICODE
    ! perl -e "$KEEP_END" "$tmp" "$1" || return
  fi
  [ -e "$tmp.pipe-$1" ] || exec cat
  mkfifo "$tmp.copy-$1" || exec cat
  keep_end "$1" <"$tmp.copy-$1" >/dev/null 2>&1 &
  exec tee "$tmp.copy-$1"
}
keep_end() { # NAME: copies standard input into files of at most 32 MiB: the last one, which may be empty, and the one before it
  n=1000000
  while [ -e "$tmp.pipe-$1" ]; do
    dd bs=16384 count=2048 of="$tmp.$1.$n" 2>/dev/null
    [ -s "$tmp.$1.$n" ] || break
    [ ! -e "$tmp.$1.$((n - 1))" ] || rm -f "$tmp.$1.$((n - 1))"
    n=$((n + 1))
  done
  : >"$tmp.done-$1"
  [ -e "$tmp.pipe-$1" ] && return
  rm -f "$tmp.$1".* "$tmp.done-$1"
  exec cat >/dev/null # what a process that the command left running still writes
}
read_end() { # NAME: prints the end of what was kept
  set -- "$tmp.$1".*
  if [ $# -le 2 ] && [ ! -s "${2:-}" ]; then exec tail -c 48000 "$1"; fi
  cat "$@" | tail -c 48000
}
catch_signals() {
  job='' is_over='' relayed='' hurried=''
  read_status
  find_reset
  for name in TERM HUP USR1 USR2 ALRM; do trap "relay $name" $name; done
  if { command : </dev/tty; } 2>/dev/null; then trap : INT QUIT; else trap "relay INT $typed" INT; trap 'relay QUIT' QUIT; fi
}
# Standard error is kept unless it is a terminal. Standard output goes the same way where both are one (2>&1, cron), so that
# lines stay in order; it has a pipe of its own where it is a socket (journald), or where it is asked for. A file gets it
# directly: a dump does not pass through.
choose_output() { # sets kept: nothing, err, err-of-both, out, or err and out
  kept=err
  [ ! -t 2 ] || kept=
  if [ "$output" = 0 ] || [ -f /proc/$$/fd/1 ] || { [ -t 1 ] && [ "$output" != 1 ]; }; then return
  elif [ -n "$kept" ] && [ /proc/$$/fd/1 -ef /proc/$$/fd/2 ]; then kept=err-of-both
  elif [ "$output" = 1 ] || [ -S /proc/$$/fd/1 ]; then kept=$kept${kept:+-}out; fi
}
name_files() { # sets tmp, with which the names of temporary files begin: nobody can guess it
  if { read -r tmp </proc/sys/kernel/random/uuid; } 2>/dev/null; then tmp=${TMPDIR:-/tmp}/stint.$tmp
  else tmp=$(mktemp "${TMPDIR:-/tmp}/stint.XXXXXX" 2>/dev/null); fi
}
make_pipes() { # fails without a word where none can be made
  case $kept in
    err-out) mkfifo "$tmp.pipe-err" "$tmp.pipe-out" ;;
    out) mkfifo "$tmp.pipe-out" ;;
    *) mkfifo "$tmp.pipe-err" ;;
  esac 2>/dev/null
}
is_kept() {
  case $kept in *err*) [ -e "$tmp.done-err" ] || return ;; esac
  case $kept in *out) [ -e "$tmp.done-out" ] || return ;; esac
}
has_end() { # NAME
  [ -n "${tmp:-}" ] || return
  set -- "$tmp.$1".*
  [ -s "$1" ] || [ -s "${2:-}" ]
}
run_job() { # COMMAND …: sets code, and tmp if the end of its standard error is there
  tmp='' mark=$file.run
  if { command : <&0; } 2>/dev/null; then exec 3<&0; else exec 3</dev/null; fi
  choose_output
  if [ -n "$kept" ] && name_files && make_pipes; then
    case $kept in *err*) pass_on err <"$tmp.pipe-err" >&2 2>/dev/null 3<&- & ;; esac
    case $kept in *out) pass_on out <"$tmp.pipe-out" 2>/dev/null 3<&- & ;; esac
    case $kept in
      err) (start_command "$@") <&3 2>"$tmp.pipe-err" 3<&- & ;;
      err-of-both) (start_command "$@") <&3 >"$tmp.pipe-err" 2>&1 3<&- & ;;
      out) (start_command "$@") <&3 >"$tmp.pipe-out" 3<&- & ;;
      *) (start_command "$@") <&3 >"$tmp.pipe-out" 2>"$tmp.pipe-err" 3<&- & ;;
    esac
  else
    tmp='' kept=
    (start_command "$@") <&3 3<&- &
  fi
  job=$!
  [ -z "$relayed" ] || pass
  exec 3<&-
  while :; do
    { wait "$job"; } 2>/dev/null # the shell would print "Killed"
    code=$?
    [ $code -gt 128 ] && kill -0 "$job" 2>/dev/null || break
  done
  job='' is_over=1
  [ -n "$tmp" ] || { rm -f "$mark"; return 0; }
  tries=0 # a process that the command left running may hold its standard error open
  until is_kept || [ $tries -ge 4 ]; do nap; done
}
end_events() { # sets events: the end, and for a failed run its exception, which is a microsecond older
  how="exited with code $code" signal=
  if [ -n "$failure" ]; then how=$failure
  elif [ "$code" -gt 128 ] && signal=$(kill -l $((code - 128)) 2>/dev/null); then
    case $signal in [A-Z]*) how="was ended by SIG${signal#SIG}" ;; *) signal= ;; esac
  fi
  micros=1${at##*.}
  [ "$micros" -gt 1000002 ] || micros=1000002
  end="{\"kind\":\"end\",$fields,\"at\":\"${at%.*}.${micros#1}Z\""
  joined=0 fine=
  case ${kept:-} in *both) joined=1 ;; esac
  case " 0$ok" in *" $code "*) [ -n "$failure" ] || fine=1 ;; esac
  bring_output
  if [ -n "$fine" ]; then events="$end}"; return; fi
  micros=$((micros - 1))
  quote "${1##*/}: $how"
  text=${quoted#?} text=${text%?}
  said=
  [ -z "$looked" ] || quote "$looked"
  [ -z "$looked" ] || said=${quoted#?} said=${said%?}
  ! has_end err || said=$(read_end err | json $TAIL_CHARACTERS $joined)
  if has_end out; then # above standard error: of lines that say as much, the last is the reason
    wrote=$(read_end out | json $REASON_CHARACTERS 1)
    said=$wrote${wrote:+${said:+\\n}}$said
  fi
  events="$end,\"failed\":true}$LF,{\"kind\":\"exception\",$fields"
  events="$events,\"exception\":\"$text${said:+\\n$said}\",\"at\":\"${at%.*}.${micros#1}Z\"}"
}
bring_output() { # adds to the end what the command wrote: if it is asked for, and of a failed run where it has a pipe of its own
  wrote='' name=
  case ${kept:-} in
    err-of-both) [ "$output" != 1 ] || name=err ;;
    *out) [ "$output" != 1 ] && [ -n "$fine" ] || name=out ;;
  esac
  [ -z "$name" ] || ! has_end "$name" || wrote=$(read_end "$name" | json $OUTPUT_CHARACTERS 1)
  [ -z "$wrote" ] || end="$end,\"output\":\"$wrote\""
}
run_exec() {
  parse_exec "$@"
  shift $shifted
  [ $# -gt 0 ] || wrong 'the command is missing'
  read_settings
  to_uid
  [ -n "$uid" ] || new_uid
  subject "${process:-${1##*/}}" "$meta" "$uid"
  now
  store
  start="{\"kind\":\"start\",$fields,\"at\":\"${at}Z\"}"
  stamp_of "$at"
  file=$dir/$words-$$ lines=2
  catch_signals # before Stint hears of the run: its end would be missing
  write "$file-s.json" "$start"
  ( # beside the command, as often as it takes
    pause=1
    until send_one "$file-s.json" 10 || [ ! -e "$file-s.json" ]; do sleep $pause; [ $pause -ge 5 ] || pause=$((pause + 1)); done
  ) </dev/null >/dev/null 2>&1 &
  sender=$!
  find_command "$1"
  if [ -n "$failure" ]; then is_over=1; say "${1##*/}: $failure${looked:+; $looked}"; else run_job "$@"; fi
  now
  end_events "$1"
  tries=0 # a short command ends before the answer to its start
  while [ -e "$file-s.json" ] && [ $tries -lt 3 ]; do nap; done
  kill $sender 2>/dev/null
  wait $sender 2>/dev/null
  silence=$wait_s
  if [ -e "$file-s.json" ]; then # not heard in this run
    events="$start$LF,$events"
    ! silent_for 60 || [ "$silence" -eq 0 ] || silence=1
    ! silent_for 10 || silence=0
  fi
  case $events in *"$LF"*) lines=3 ;; esac
  if write "$file.json" "$events" && [ -e "$file-s.json" ]; then rm -f "$file-s.json"; fi
  (trap - TERM INT HUP; deliver "$file.json" "$silence" "$lines") </dev/null >/dev/null &
  sender=$!
  wait $sender
  [ -z "${tmp:-}" ] || [ ! -e "$mark" ] || rm -f "$tmp" "$tmp".* "$mark"
  if [ -n "$hurried" ] && [ -e "$file.json" ]; then say "$(count_in "$file.json") events kept, sent later"; fi
  [ -z "${unkept:-}" ] || rm -rf "$dir"
  case $relayed in '') ;; "$signal") trap - "$signal"; kill -s "$signal" $$ ;; esac
  exit "$code"
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  exec) run_exec "$@" ;;
  start) parse_flags "$@"; [ -n "$uid" ] || new_uid; send_event start '' && echo "$uid" ;;
  end) parse_flags "$@"; send_event end "${failed:+,\"failed\":true}" ;;
  metric) run_metric "$@" ;;
  exception) run_exception "$@" ;;
  flush) run_flush "$@" ;;
  --version | -V) echo "$VERSION" ;;
  '' | help | --help | -h) usage ;;
  *)
    say "stint $command is a command of the full command line; this script sends events only. To install that one, see" \
      "${STINT_URL:-http://127.0.0.1:7070}/clients"
    exit 2
    ;;
esac
