// Faults that once shared a group, and occurrences of one fault that once had several.
import { describe, expect, test } from 'bun:test'
import { fingerprint, normalizeException } from '../../src/event/fingerprint.ts'
import FAILURES from './failures.json'

const failed = (...said: string[]) => ['job: exited with code 1', ...said].join('\n')
const python = (said: string) => `Traceback (most recent call last):\n  File "/srv/a.py", line 3, in load\n${said}`
const pool = (reason: string) =>
  python(
    `requests.exceptions.ConnectionError: HTTPSConnectionPool(host='a.example', port=443): Max retries exceeded with url: /x (Caused by ${reason})`,
  )
const aborted = (...said: string[]) => ['./server: was ended by SIGABRT', 'loaded 12 rows', ...said].join('\n')
const thrown = (type: string, what: string) =>
  aborted(`terminate called after throwing an instance of '${type}'`, `  what():  ${what}`)
const grpc = (details: string) =>
  `grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNKNOWN\n\tdetails = "${details}"`

describe('every text is a group of its own:', () => {
  test.each([
    [
      'errors of MySQL drivers in Python',
      [
        python(`pymysql.err.OperationalError: (1045, "Access denied for user 'a'@'b' (using password: YES)")`),
        python(`pymysql.err.OperationalError: (1213, 'Deadlock found when trying to get lock; try restarting')`),
        python(`pymysql.err.OperationalError: (2003, "Can't connect to MySQL server on 'db' (timed out)")`),
        python(`pymysql.err.OperationalError: (2003, "Can't connect to MySQL server on 'db' ([Errno 111] refused)")`),
        python(`sqlalchemy.exc.OperationalError: (pymysql.err.OperationalError) (2006, 'Server has gone away')`),
        python(`sqlalchemy.exc.OperationalError: (pymysql.err.OperationalError) (2013, 'Lost connection')`),
      ],
    ],
    [
      'reasons of requests and urllib3',
      [
        pool(
          `NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f01>: Failed to establish a new connection: [Errno 111] Connection refused')`,
        ),
        pool(
          `NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f01>: Failed to establish a new connection: [Errno -2] Name or service not known')`,
        ),
        pool(
          `NameResolutionError("<urllib3.connection.HTTPSConnection object at 0x7f01>: Failed to resolve 'a.example' ([Errno -2] Name or service not known)")`,
        ),
        pool(
          `SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1007)'))`,
        ),
        pool(
          `SSLError(SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: Hostname mismatch, certificate is not valid for 'a.example'. (_ssl.c:1007)"))`,
        ),
        python(
          "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
        ),
        python(
          "requests.exceptions.ConnectionError: ('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))",
        ),
      ],
    ],
    [
      'exceptions that end a C++ program',
      [
        thrown('std::runtime_error', 'connection lost'),
        thrown('std::runtime_error', 'stoi'),
        thrown('std::out_of_range', 'stoi'),
        aborted("terminate called after throwing an instance of 'int'"),
        aborted('server: pool.cpp:31: void Pool::put(int): Assertion `n > 0 && "no room"\' failed.'),
        aborted('double free or corruption (out)'),
      ],
    ],
    [
      'codes of mysqldump',
      [
        failed('mysqldump: Got error: 1045: "x" when trying to connect'),
        failed('mysqldump: Got error: 1049: "x" when trying to connect'),
        failed('mysqldump: Error 2013: x when dumping table `a` at row: 12'),
        failed('mysqldump: Error 2020: x when dumping table `a` at row: 12'),
        failed("mysqldump: Couldn't execute 'SHOW FIELDS FROM `a`': x (1146)"),
        failed("mysqldump: Couldn't execute 'SHOW FIELDS FROM `a`': x (1356)"),
      ],
    ],
    [
      'findings of sanitizers, in a log',
      ['heap-use-after-free', 'heap-buffer-overflow'].map((what) =>
        aborted(
          `==7==ERROR: AddressSanitizer: ${what} on address 0x1`,
          'READ of size 4',
          '    #0 0x1 in parse(char) /b/a.cc:7',
        ),
      ),
    ],
    [
      'the first of four lines that report a fault',
      ['curl 18', 'curl 56'].map((code) => failed(`error: RPC failed; ${code} x`, 'fatal: a', 'fatal: b', 'fatal: c')),
    ],
    [
      'reasons above a last line that says nothing',
      ['timed out', 'refused', 'rejected'].map((why) => failed(`ssh: connect to host a: ${why}`, 'lost connection')),
    ],
    [
      'reasons of Rust errors',
      ['expected value', 'EOF while parsing a value'].map(
        (why) =>
          `thread 'main' panicked at src/a.rs:1:2:\ncalled \`Result::unwrap()\` on an \`Err\` value: Error("${why}")`,
      ),
    ],
    [
      'messages of PHP exceptions',
      [
        "PHP Fatal error:  Uncaught exception 'Exception' with message 'No rows in the result' in /srv/a.php:12",
        "PHP Fatal error:  Uncaught exception 'Exception' with message 'The mail server is busy' in /srv/a.php:12",
      ],
    ],
    [
      'details of gRPC',
      [grpc('the stream has no such topic'), grpc('Exception calling application: division by zero')],
    ],
    ...['event', 'errorMessage', 'text', 'reason', 'error_message', 'details', 'err.msg'].map(
      (key): [string, string[]] => [
        `JSON with the key ${key}`,
        [`{"level":"error","${key}":"the lease ended"}`, `{"level":"error","${key}":"the pool has no room"}`],
      ],
    ),
    [
      'names of files and of everything else that is no place',
      [
        "cannot open '/srv/app/app.conf'",
        "cannot open '/srv/app/keys.json'",
        'missing input /data/in/orders.csv',
        'missing input /data/in/customers.csv',
        'GET /data/orders/list failed',
        'GET /data/users/list failed',
        'no route for /api/users',
        'no route for /api/orders',
        '404 Not Found: https://api.example/users/7',
        '404 Not Found: https://api.example/orders/7',
        'app.orders:1088 rejected',
        'app.users:1088 rejected',
        'region unknown',
        'region mismatch',
        'to host refused',
        'to host unreachable',
        "Can't resolve './cart'",
        "Can't resolve './user'",
        'users | failed',
        'orders | failed',
        'POST https://api.example/payments timed out',
        'POST https://api.example/refunds timed out',
        'connection to cache failed: lost',
        'connection to database failed: lost',
      ],
    ],
    [
      'codes within quotes',
      ["'signal 9 (SIGKILL)'", "'signal 11 (SIGSEGV)'", "'exitcode 1'"].map((how) => `worker exited with ${how}`),
    ],
    [
      'codes in JSON',
      ['{"errno":1062}', '{"errno":1213}', '{"code":11000}', '{"httpStatusCode":404}', '{"httpStatusCode":500}'],
    ],
  ])('%s', (_, texts: string[]) => {
    expect(new Set(texts.map(normalizeException)).size).toBe(texts.length)
  })
})

const long = 'the queue had no room for the next message that came from the sender and so on, '.repeat(6)
const ALIKE: readonly (readonly [string, readonly string[]])[] = [
  ['a long line with a process id', ['7', '4711', '123456'].map((id) => failed(`worker ${id} failed: ${long}`))],
  [
    'a warning of Node below other lines of a log',
    ['12', '4711'].flatMap((id) =>
      ['copied orders', 'listening'].map((log) =>
        failed(log, `(node:${id}) UnhandledPromiseRejectionWarning: Error: no room`, '    at load (/srv/a.js:1:2)'),
      ),
    ),
  ],
  [
    'an unknown header below other lines of a log',
    ['copied orders', 'listening'].map((log) =>
      failed(log, '(main-thread) Unhandled: the pool closed', '    at load (/srv/a.js:1:2)'),
    ),
  ],
  [
    'a URL with an id and a query',
    ['users/4711/x9_Kq-2?page=1', 'users/12/b7-Qw_1#top', 'users/3f2a9c1e-1b2c-4d5e-8f90-123456789abc/a1-b2'].map(
      (path) => `GET https://a.example/v1/${path} failed`,
    ),
  ],
  ['a path with a query', ['?a=1&b=x', '?token=QwErTy', ''].map((query) => `no route for /orders/list${query}`)],
  [
    'a Windows path',
    ['C:\\Users\\ada\\app', 'D:\\work', 'C:\\Program Files\\Shop App\\bin'].map((at) => `cannot open ${at}\\rows.csv`),
  ],
  ['a quoted Windows path', ['C:\\Users\\ada', 'D:\\\\work\\\\x'].map((at) => `cannot open '${at}\\rows.csv'`)],
  ['a home directory', ['/home/ada', '/home/bob', '/Users/eve'].map((at) => `cannot open '${at}/rows.csv'`)],
  ['a Perl script', ['/opt/a/bin', '/home/b/x-1'].map((at) => failed(`no such row at ${at}/load.pl line 12.`))],
  [
    'a missing Perl module',
    ['/etc/perl /usr/lib/perl5', '/opt/perl/5.36'].map((inc) =>
      failed(`Can't locate A/B.pm in @INC (you may need to install it) (@INC contains: ${inc}) at /x/load.pl line 1.`),
    ),
  ],
  [
    'a PowerShell script',
    ['C:\\deploy', 'D:\\a\\My Scripts'].map((at) => failed('Get-Item : not found', `At ${at}\\load.ps1:12 char:5`)),
  ],
  [
    'a duplicate key of MongoDB',
    ['{ : "alice" }', '{ : "bob smith" }', '{ : 12 }', "{ : ObjectId('5f1e') }"].map(
      (key) => `E11000 duplicate key error collection: shop.users index: name_1 dup key: ${key}`,
    ),
  ],
  ['names of users', ['ada', 'bob', 'eve-2'].map((name) => `password authentication failed for user ${name} at login`)],
  [
    'a host by name or address',
    ['localhost:6379', '10.0.0.7:6380', 'cache-1.a.example:6379'].map(
      (at) => `redis.exceptions.ConnectionError: Error 111 connecting to ${at}. Connection refused.`,
    ),
  ],
  [
    'a server of MySQL by name or address',
    ['db', '127.0.0.1', 'db-1.a.example'].map((at) =>
      failed(`mysqldump: Got error: 2003: Can't connect to MySQL server on '${at}' (111) when trying to connect`),
    ),
  ],
  [
    'a repository of git',
    ['https://git.example/a/b.git/', 'https://git.example/shop/', 'https://git.example/c/d-1.git/'].map((at) =>
      failed(`fatal: unable to access '${at}': Could not resolve host: git.example`),
    ),
  ],
  [
    'a Perl script without an extension',
    ['/usr/sbin/', './', '', '/opt/x/bin/'].map((at) => failed(`no such row at ${at}load line 12.`)),
  ],
  [
    'a host of ssh',
    ['da5', '10.0.0.7', 'a.example'].map((at) => failed(`ssh: connect to host ${at} port 22: refused`, 'lost it')),
  ],
  [
    'a directory and a log of npm',
    ['/home/ada', '/opt/x/src', '/Users/eve/shop'].map((at) =>
      failed(
        `npm ERR! Could not read: ENOENT: no such file or directory, open '${at}/package.json'`,
        `npm ERR! A complete log of this run can be found in: ${at}/_logs/2026-11-20T17_22_02_645Z-debug-0.log`,
      ),
    ),
  ],
  [
    'a connection that failed, whatever the URL',
    ['http://localhost:9200/', 'https://es.corp:9200/a/_search?q=1', 'http://10.0.0.7/b'].map(
      (url) => `Get "${url}": dial tcp ${url.length}.0.0.1:9200: connect: connection refused`,
    ),
  ],
  [
    'the host of a URL',
    ['a.example', 'b.corp:8443', '[::1]:80'].map((host) => `404 Not Found: https://${host}/users/7`),
  ],
  [
    'a host without quotes',
    ['db.corp:5432', 'localhost:5433', '10.0.0.7:5432', '[::1]:5432', 'ip-10-0-0-7.ec2.internal'].map(
      (at) => `server selection failed for ${at}: refused`,
    ),
  ],
  ['a host beside its address', ['', 'a.corp/', 'b.'].map((name) => `no route to ${name}10.0.0.7:80`)],
  ['a directory', ['/srv/a', '/mnt/b/c', '../in', '.'].map((at) => `${at}/rows.csv: Permission denied`)],
  ['a full disk', ['/srv/a.log', '/mnt/b/db.sql'].map((at) => `cp: error writing '${at}': No space left on device`)],
  ['a name of an installation', ['logs-eu', 'raw_7'].map((name) => `bucket ${name} is not empty`)],
  ['a namespace', ['web', 'shop-7'].map((name) => `pods is forbidden in the namespace "${name}"`)],
  ['an id', ['n+K6rBU/TyKN==', '4711', 'x7f-Q2'].map((id) => `Access Denied (Request ID: ${id})`)],
  ['a resource of AWS', ['1234:user/ci', '99:role/a'].map((at) => `User: arn:aws:iam::${at} is not authorized`)],
  [
    'a certificate of another host',
    ['a.example, not b', 'c.example, d.example, not e'].map((names) => `x509: certificate is valid for ${names}`),
  ],
  ['a line of syslog', ['Nov 20 03:00:01 mx1', 'Nov 21 04:00:00 web-7'].map((start) => `${start} app[17]: no rows`)],
  [
    'what a log prints first',
    ['2026-11-20 03:00:01.1 UTC [17] ', '2026-11-21 04:00:00 CET ', '[ 518.05] ', 'db_1  | ', 'Nov 20 03:00:01 '].map(
      (start) => `${start}ERROR: no rows`,
    ),
  ],
  ['a pod', ['7d9f8b6c5d-x2x9p', '6888488647-bcdfg', '5f6c9d8b77-2wxzb'].map((end) => `web-${end} was evicted`)],
  ['a host to connect to', ['db.corp', 'a.b.example', '10.0.0.7'].map((at) => `could not connect to ${at}`)],
  ['a login of ssh', ['ada@nas', 'root@10.0.0.7', 'bob@a.example'].map((at) => `${at}: Permission denied`)],
  ['a size', ['512M', '2G', '1.5 GB', '900mb'].map((size) => `needs ${size}`)],
  ['a key of S3', ['s3://raw/in/2026', 's3://logs-eu/7', 'hdfs://nn1:8020/raw'].map((at) => `no such path: ${at}`)],
  [
    'a file of one run',
    ["'rows-77.csv'", "'2026-11-20.csv'", "'/data/in/7.csv'"].map((at) => `cannot open file ${at}`),
  ],
  ['a full stop', ['timed out after 30 s.', 'timed out after 9 s']],
  ['a time behind its level', ['2026-11-20 03:00:01,123', '2026-11-21T04:00:00Z'].map((at) => `ERROR ${at} no rows`)],
  ['a line of klog', ['1120 03:00:01.1    17 a.go:1', '1121 04:00:00.2 4711 b.go:22'].map((at) => `E${at}] no rows`)],
  ['mixed separators', ['C:\\xampp\\htdocs/shop', '/var/www/shop'].map((at) => `no room in ${at}/src/View.php`)],
  ['a source file by a relative path', ['src/', '/home/ada/app/src/', ''].map((at) => `no room in ${at}view.rb`)],
  ['a tuple of Python 2', ["('closed',)", "('closed')"].map((said) => `WorkerLostError${said}`)],
  ['an address behind another', ['172.18.20.166/172.18.20.166:6379', '10.0.0.6/10.0.0.6:80'].map((at) => `lost ${at}`)],
  ['a node by its number', ['1001', '2'].map((id) => `cancelled due to node ${id} being disconnected`)],
  ['a host name in quotes', ['db-1.a.io', 'pg'].map((at) => `could not translate host name "${at}" to address`)],
  ['a template of Rails', ['_12_34', '__56_78'].map((id) => `NoMethodError: x\na.erb:1:in '_a_erb_${id}'`)],
  [
    'frames of Elixir, with or without versions',
    ['', ' 2.3.0'].map(
      (version) =>
        `** (ArgumentError) no room\n    (ecto${version}) lib/ecto/repo.ex:${version.length}: Ecto.Repo.all/2`,
    ),
  ],
  ['a user that does not exist', ['ada', 'bob.x'].map((name) => `user ${name} does not exist`)],
  ['a user and a host of MySQL', ["'ada'@'web'", "'root'@'10.0.0.1'"].map((at) => `Access denied for user ${at}`)],
  [
    'a quoted sentence with a value inside',
    ["'Ada Lovelace'", "'Bob Roe'"].map((name) =>
      python(`OperationalError: (1644, "No room for ${name} in the list")`),
    ),
  ],
]

describe('all texts are one group:', () => {
  test.each(ALIKE)('%s', (_, texts) => expect([...new Set(texts.map(normalizeException))]).toHaveLength(1))
})

test.each([
  ['user not found', 'user not found'],
  ['user does not exist', 'user does not exist'],
  ['invalid user input', 'invalid user input'],
  ["no author 'Ada Lovelace'", 'no author <string>'],
  ['no route for /a/b', 'no route for /a/b'],
])('%s stays apart from values', (text, normal) => expect(normalizeException(text)).toBe(normal))

test.each(FAILURES)('failures of $name have the $want group', ({ want, texts }) => {
  expect(new Set(texts.map(fingerprint)).size).toBe(want === 'same' ? 1 : texts.length)
})
