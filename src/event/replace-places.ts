// Replaces where a fault happened, which varies between machines: URLs, hosts, directories, and the names that an
// installation gives to its buckets, containers and users. The name of a file stays, because a missing `app.conf` and a
// missing `keys.json` are two faults; a name with a number is data of one run and goes. Every pattern is bounded, and
// hardly any is tried unless the text holds a part that each of its matches has.

const AUTHORITY = '\\[[\\da-f:.]{2,50}\\](?::\\d{1,5})?|[^\\s/?#"\'`<>()[\\],;]{0,299}\\w|(?<=unix:\\/\\/)'
const URL = new RegExp(
  `\\b(?:(https?)|[a-z][a-z\\d+.\\ue030-\\ue039-]{1,20}):\\/\\/(?:${AUTHORITY})` +
    '(\\/(?:[^\\s?#"\'`<>]{0,499}[^\\s?#"\'`<>.,:;)\\]])?)?(?:[?#](?:[^\\s"\'`<>]{0,1999}[^\\s"\'`<>.,:;)\\]])?)?',
  'gi',
)
/** An id in the path of a URL; `v2` is a version. */
const SEGMENT_ID = /(?<=\/)(?!v\d{1,3}(?:\/|$))[^/\d]{0,500}\d[^/]*/g
/** A connection failed before the path of its URL mattered. */
const UNCONNECTED = /refused|resolve|connect|\bdial |no such host|certificate|handshake|\bssl\b|\btls\b|unreachable/i
const QUERY = /(?<=[\w/])\?[\w.%~[\]-]{1,60}=[^\s"'`<>]{0,2000}/g
/** Repositories of git: `git@host:team/shop.git` */
const REPOSITORY = /(?:<address>\/|(?<![\w/.:@-])[\w.@-]{1,200}:)[\w./~-]{1,300}\.git\b/g

const SOURCE =
  'pyx?|[cm]?[jt]sx?|vue|svelte|csproj|rb|php|java|kts?|scala|go|rs|cs|c|cc|cpp|h|hpp|swift|p[lm]|ps[md]?1|' +
  'sh|lua|exs?|sql|json|ya?ml|toml|xml|lock|conf|cfg|ini|env|so|dll|jar|exe|service'
/** `db.corp:5432`: a port tells a host from `file:12`, if servers commonly have it. */
const SERVER = '(?:[35689]000|8080|8443|6443|1433|1521|2181|3306|[56]432|5672|6379|909[02]|9200|11211|27017|50051)'
const DOTTED = `(?:\\.[\\w-]{1,62}){1,8}(?<!\\.(?:${SOURCE})):(?:${SERVER}|22|25|80|389|443|465|587|636|993)`
const HOST_PORT = new RegExp(
  `(?<![\\w/.\\\\@:<-])(?:localhost(?::\\d{1,5})?|[a-z\\d][\\w-]{0,62}(?:${DOTTED}|:${SERVER}))(?![\\w.]|:\\d)|` +
    '(?<=\\b(?:tcp|udp) ):\\d{1,5}(?!\\w)|\\bip(?:-\\d{1,3}){4}(?:\\.[^\\s:/,)\\]]{1,200})?|' +
    '(?<=\\b(?:refused|known|unreachable|reached|peer|host) \\()[a-z][\\w.-]{0,200}:\\d{2,5}(?=\\))',
  'g',
)
/** A domain is known by its top level; a module of Go goes on. */
const TOP_LEVELS = ['.com', '.org', '.net', '.corp', '.lan', '.svc', '.internal', '.example']
const HOST = new RegExp(
  '(?<![\\w.@/\\\\<>$-])(?!(?:com|org|net)\\.)(?:[a-z\\d][\\w-]{0,62}\\.){1,8}' +
    '(?:com|org|net|corp|lan|svc|internal|example)(?::\\d{2,5})?(?![\\w(/]|\\.\\w)',
  'g',
)
/** Words behind which a host stands, by its name alone. */
const HOST_FOLLOWS = [
  'to host |resolve host(?:name| address)?:? [‘\'"]?|getaddrinfo E[A-Z_]{2,20} |UnknownHostException: |at host ',
  '[a-z]{0,9}host ?= ?|(?:server|host): (?=[\\w-]{1,63}(?:\\.|, port))|server at (?:`|(?=[\\w-]{1,63}\\.))',
  'host name \\(|dial (?:tcp|udp) ',
  '(?:connect|connection|connecting|reading|read) (?:to|from) ' +
    '(?=\\S{1,253}(?: port \\d|:\\d|\\[)|[a-z\\d-]{1,63}(?:\\.[a-z\\d-]{1,63}){1,8}(?![\\w.(]))',
  '(?:lookup|looking up \\w{1,5} for) (?=\\S{1,253} ?(?:on |: ?no|- ))',
]
const NAMED_HOST = new RegExp(
  `\\b(${HOST_FOLLOWS.join('|')})(?!(?:name|address|unreachable|refused|failed|not|is|was|for|port)\\b)` +
    '\\w[\\w.-]{0,252}(?::\\d{1,5}(?!\\w))?',
  'gi',
)
/** Resolvers print it before their error. */
const UNRESOLVED =
  /(?<![\w.:/-])[\w.-]{1,253}(?::\d{1,5})?(?=: (?:Name or service|Temporary failure in|nodename nor|No address))/g
/** Ansible and Chef begin with it. */
const LABELLED_HOST =
  /^(fatal: |failed: |unreachable: |)(?:\[[^\]\n]{1,253}\](?=:| =>)|[^\s|]{1,253}(?= \| (?:FAILED|UNREACHABLE)))/gm
/** Keys and tokens of requests: `RequestID: x7f/Q==`, `CONNECTION_ID=…` */
const ID =
  /((?:\b|[ _-])[Ii][Dd]|[a-z]Id|[A-Za-z]ID)(["']?(?:: ?|=)["']?)(?=[\w+/.~-]{0,200}[\d=+/])[\w+/.~-]{1,200}={0,2}/g
const IDS = ['id=', 'id:', 'id"', 'Id=', 'Id:', 'Id"', 'ID=', 'ID:', 'ID"']
/** Names that a certificate is valid for. */
const CERTIFICATE = /(altnames: |alternative names: |certificate is valid for |Certificate for (?=<))[^\n]{1,2000}/g
/** Names that an installation gives; a word without a mark could be any other word. */
const NAMES =
  'endpoint bucket Bucket container namespace region domain Domain volume node pod certificate project Project'.split(
    ' ',
  )
const NAMED = new RegExp(
  `\\b((?:${NAMES.join('|')})(?: name)?:? \\(?)(?!\\d{1,40}(?![\\w.-]))` +
    '(?=[a-z\\d]{1,63}[\\d_.-]|(?<=No such (?:container|pod): ))[a-z\\d][\\w.-]{0,252}(?<![.:])',
  'g',
)

/** Windows, and shares of it; a name in it may have spaces. */
const WINDOWS_ROOT = /(?:(?<!\w)[A-Za-z]:\\{1,2}|(?<![\w\\])\\\\[\w.-]{1,60}\\)/
const WINDOWS_FOLDERS = /(?:[^\\/:*?"'<>|\s]{1,80}(?: [^\\/:*?"'<>|\s]{1,40}){0,3}(?:\\{1,2}|\/)){0,20}/
const WINDOWS = new RegExp(`${WINDOWS_ROOT.source}${WINDOWS_FOLDERS.source}([\\w.~-]{0,120})`, 'g')
const TEMPORARY = /\/(?:tmp\/|var\/folders\/|dev\/(?:[hsv]d|xvd|nvme|md|dm-|mapper\/|loop|disk))[^\s"'`:,)\]]{1,300}/g
const ROOTS =
  'home|Users|root|etc|srv|opt|vendor|apps?|var|usr|s?bin|lib|mnt|media|data|[Bb]ackups?|builds?|run|export|' +
  '[vV]olumes?|workspaces?|snap|nix|code|github|cache|storage|docker|volume\\d{1,2}|private|Library'
const NO_END = '[^\\s/"\'`:,()<>[\\]]'
/** A directory of this machine, or any that source files are in; what follows it is the file's name. */
const DIRECTORY = new RegExp(
  '(?<![\\w/:.@>-]|(?:GET|POST|PUT|PATCH|DELETE|HEAD) ' +
    `)(?:(?:(?:\\.{1,2}[\\w-]{0,30}|~[\\w-]{0,32})\\/|\\/(?:${ROOTS})\\/)(?:${NO_END}{1,80}\\/){0,20}|` +
    `\\/?(?:[\\w.@+~-]{1,60}\\/){1,20}(?=[\\w.-]{1,60}\\.(?:${SOURCE})\\b))(${NO_END}{0,120})`,
  'g',
)
const IS_SOURCE = new RegExp(`\\.(?:${SOURCE})(?:\\.\\d{1,3})?$`)
/** The next file that is written meets the full disk. */
const FULL =
  'o space left|ENOSPC|uota exceeded|ead-only file|oo many open files|EMFILE|changed as we read|has vanished'.split('|')
/** A file that is named after a site: `shop.example.com.conf` */
const OF_HOST = /\.(?:com|org|net|corp|lan|internal|example)\.\w{1,6}$/
const nameOf = (_: string, name: string): string =>
  name === '' || (/\d/.test(name) && !IS_SOURCE.test(name)) || OF_HOST.test(name) ? '<path>' : name
/** Tools that take files in turn: any could have been the first to meet the fault. */
const WALKS = /(?:^|[\s:])(?:rsync|tar|gzip|zip|xz|zstd|bzip2|borg|find|du|unison)(?::| error| warning) /
/** A file of one run, beside the same in quotes: `out/rows-77.csv.gz`. */
const RUN_FILE =
  /(?<![\w/.<:-])[\w./-]{0,200}\d[\w-]{0,60}(?:\.(?:csv|log|t?gz|tar|zip|bak|sql|zst|xz)){1,3}(?![\w.]{2})/g
/** `/usr/bin:/bin` */
const SEARCHED = /(?<![\w/.:-])(?:\/[\w./-]{1,100}:){1,30}\/[\w./-]{1,100}/g
/** The program stays, its arguments vary: `Command '['pg_dump', '-h', 'db']'`. */
const COMMAND = /\bCommand '\['(?:[^'\n]{0,200}\/)?([^'/\n]{1,100})'[^\n]{0,1000}?\]'/g
/** An installation names its database; a release of an image is a version. */
const DATABASE = /\b([Tt]able ['"`]?)[\w-]{1,64}[.:](?=[A-Za-z_])/g
const IMAGE = /\b(image ["']?[\w./-]{1,200}):[\w.-]{1,128}/g
/** A resource of AWS; its service stays. */
const ARN = /\b(arn:[\w-]{1,20}:[\w-]{1,30}:)[^\s"',)\]]{1,500}/g
/** Where Perl looked for a module. */
const INCLUDED = /\(@INC[^:()]{0,30}: [^)\n]{0,2000}\)?/g
/** urllib3, npm and rclone */
const NAMED_PATH = /\b(with url: |can be found in: |ERROR : )(?=\S)(?:[^\n]{1,300}?(?=: )|\S{1,2000})/g

/** The name of a user without quotes. */
const USER_IS =
  'not|is|was|does|has|did|had|could|can|cannot|may|must|found|defined|provided|given|required|exists|' +
  'error|with|in|on|at|from|to|for|and|or'
const USERS =
  'the|a|input|name|id|account|data|agent|interrupt|space|mode|type|role|password|' +
  'session|token|key|group|profile|email|table'
const USER = new RegExp(
  '\\b((?:(?:for|by|as|invalid|unknown|illegal|such) user:? ' +
    `|user(?:name)?=))(?!(?:${USER_IS}|${USERS})\\b)[\\w.@+-]{1,64}|` +
    `\\b(user )(?!(?:${USER_IS}|${USERS})\\b)[\\w.@+-]{1,64}(?= (?:${USER_IS})\\b)`,
  'gi',
)

/** Who holds a lock: a process, a user, a host, and since when. */
const HOLDER = new RegExp(
  '\\b(locked|held|owned|acquired|taken|used)((?: exclusively)? by )(?!(?:the|an?|another|other)\\b)' +
    '(?:[^\\n.;]|\\.(?=\\w)){1,200}',
  'g',
)

/** Looking for a part that every match of a pattern has costs a tenth of trying the pattern. */
const has = (text: string, ...parts: readonly string[]): boolean => parts.some((part) => text.includes(part))

/** Before text in quotes is judged: a place without its directories is a name. */
export function replacePlaces(text: string, isContext: boolean): string {
  let normal = text
  if (has(normal, '://')) normal = replaceUrls(normal, isContext)
  if (has(normal, '.git')) normal = normal.replace(REPOSITORY, '<path>')
  if (has(normal, ':\\', '\\\\')) normal = normal.replace(WINDOWS, nameOf)
  if (has(normal, '(@INC')) normal = normal.replace(INCLUDED, '(@INC)')
  if (has(normal, "Command '['")) normal = normal.replace(COMMAND, "Command '$1'")
  if (has(normal, 'table ', 'Table ')) normal = normal.replace(DATABASE, '$1')
  if (has(normal, 'image ')) normal = normal.replace(IMAGE, '$1')
  if (has(normal, 'url: ', 'found in: ', 'ERROR : ')) normal = normal.replace(NAMED_PATH, '$1<path>')
  if (has(normal, '/')) normal = replacePaths(normal)
  if (has(normal, '.gz', '.csv', '.zip', '.log', '.bak', '.zst', '.xz')) normal = normal.replace(RUN_FILE, '<path>')
  if (has(normal, 'arn:')) normal = normal.replace(ARN, '$1<path>')
  return normal
}

function replaceUrls(text: string, isContext: boolean): string {
  const isUnconnected = isContext || UNCONNECTED.test(text)
  return text.replace(URL, (_, isHttp?: string, path = '') =>
    isUnconnected || isHttp === undefined ? '<address>' : `<address>${path.replace(SEGMENT_ID, '<number>')}`,
  )
}

const replacePaths = (text: string): string =>
  (text.includes(':/') ? text.replace(SEARCHED, '<path>') : text)
    .replace(TEMPORARY, '<path>')
    .replace(DIRECTORY, has(text, ...FULL) || WALKS.test(text.slice(0, 40)) ? () => '<path>' : nameOf)

/** After text in quotes has been replaced. */
export function replaceHosts(text: string): string {
  let normal = text
  if (has(normal, '?')) normal = normal.replace(QUERY, '')
  if (has(normal, ...IDS)) normal = normal.replace(ID, '$1$2<number>')
  if (has(normal, 'lock')) normal = normal.replace(HOLDER, '$1$2<string>')
  if (has(normal, 'user', 'User')) normal = normal.replace(USER, '$1$2<string>')
  if (has(normal, 'names: ', 'ertificate ')) normal = normal.replace(CERTIFICATE, '$1<address>')
  if (has(normal, 'ost', 'onnect', 'ead', 'dial', 'ook', 'getaddrinfo'))
    normal = normal.replace(NAMED_HOST, '$1<address>')
  if (has(normal, 'not known', 'in name', 'nodename', 'No address')) normal = normal.replace(UNRESOLVED, '<address>')
  if (has(normal, ': [', ' | ')) normal = normal.replace(LABELLED_HOST, '$1<address>')
  if (has(normal, ...TOP_LEVELS)) normal = normal.replace(HOST, '<address>')
  if (has(normal, ':', 'localhost', 'ip-')) normal = normal.replace(HOST_PORT, '<address>')
  return has(normal, ...NAMES) ? normal.replace(NAMED, '$1<string>') : normal
}
