/** What the owner sees before an import, and what is doubtful. */

import { describe, expect, test } from 'bun:test'
import { quotePath } from '../../../src/words.ts'
import { type Options, read, treat } from '../read.ts'

const toCsv = (name: string, cells: readonly string[]) =>
  `email,${name}\n${cells.map((cell, index) => `user${index}@b.io,${cell}\n`).join('')}`

/** The same beside a column that says who left. */
const toKnown = (name: string, cells: readonly string[]) =>
  `email,status,${name}\n${cells.map((cell, index) => `user${index}@b.io,active,${cell}\n`).join('')}`

const NOTES = Array.from({ length: 40 }, (_, index) => `note ${index}`)
const SILENCE = 'nothing in it says who left'

test('the review shows the counts, the columns, the dates and the values', () => {
  const text = `Our readers
Name,E-Mail,Created at,Status,Notes
Ada,a@site.io,2020-01-01,active,VIP
Ada,"a2@site.io; a3@site.io",2019-03-02,active,
Bob,b@site.io,2024-05-31,unsubscribed,gone
Cyd,c@site.io,2020-01-01,pending,VIP
Dan,nobody,2020-01-01,active,
Eve,e@site.io,2020-13-01,active,
,,,,
`
  expect(read(text, { ignoreColumn: ['Name'] }).lines).toEqual([
    'list: 7 rows',
    'header    line 2, below "Our readers"',
    'address   "E-Mail"',
    'date      "Created at", from 2019-03-02 to 2024-05-31; line 3 is 2020-01-01',
    'status    "Status": active 4 subscribed; unsubscribed 1 left; pending 1 skipped',
    'not read  "Name", "Notes"',
    '      2  would be added',
    '      1  left: would be suppressed',
    '      1  skipped',
    '      2  rejected: line 7 "nobody", line 8 "2020-13-01" (the date does not exist)',
    '      1  empty',
    '! rejected are 2 of 7 rows: --rejected FILE keeps them',
  ])
})

test('the review is bounded', () => {
  const rejected = 'x\n'.repeat(30)
  expect(read(`a@site.io\n${rejected}`).lines[2]).toBe(
    '     30  rejected: line 2 "x", line 3 "x", line 4 "x", line 5 "x", line 6 "x" and 25 more',
  )
  const names = Array.from({ length: 160 }, (_, index) => `Lead score ${index}`)
  const wide = read(`email,status,${names}\na@site.io,active${',x'.repeat(160)}\n`, { accept: ['silence'] }).lines
  expect(wide.filter((line) => line.startsWith('not read'))).toEqual([
    expect.stringMatching(/^not read {2}"Lead score 0", .{100,210} and 1\d\d more$/),
  ])
  const words = Array.from({ length: 60 }, (_, index) => `word ${index}`)
  const { lines } = read(toCsv('status', words), treat('*=subscribed'))
  expect(lines.find((line) => line.startsWith('status'))).toEndWith(
    '; word 49 1 subscribed; 10 other values subscribed',
  )
})

describe('nothing says who left', () => {
  test.each<readonly [name: string, cells: readonly string[]]>([
    ['VIP', ['yes', 'yes']],
    ['foo', ['x', '']],
    ['foo', ['2024-05-31', '']],
    ['Lead status', ['new', 'won']],
    ['tags', ['*', '']],
    ['foo', NOTES],
    ['Newsletter opt-in', ['yes', 'yes']],
  ])('a column that is not read is a doubt: %s, %j', (name, cells) => {
    expect(read(toCsv(name, cells)).doubts[0]).toStartWith(
      `${SILENCE}, and "${name}" is not read: --status-column ${quotePath(name)} if it does, --ignore-column ${quotePath(name)} if not, --suppress`,
    )
    expect(read(toCsv(name, cells), { ignoreColumn: [name], dateColumn: 'none' }).doubts).toEqual([])
    expect(read(toKnown(name, cells), { dateColumn: 'none' }).doubts).toEqual([])
    expect(read(toCsv(name, cells), { suppress: true }).doubts).toEqual([])
  })

  test.each([
    ...[
      'First name',
      'Vorname',
      'Prénom',
      'Apellido',
      'Voornaam',
      'Imię',
      'Sobrenome',
      'Прізвище',
      '氏名',
      '姓名',
      'الاسم',
    ],
    ...[
      'Phone 1 - Value',
      'Telefonnummer',
      'Company',
      'Ville',
      'Postleitzahl',
      'country',
      'Shipping City',
      'Total Spent',
    ],
    ...[
      'Birthday',
      'language',
      'updated_at',
      'Last active',
      'LEID',
      'utm_source',
      'SMS status',
      'WhatsApp opt-out',
      'Labels',
    ],
  ])('a column %s is no doubt', (name) => {
    expect(read(toCsv(name, ['x', ''])).doubts).toEqual([])
  })

  test('a column without a value is no doubt, and none is where nobody would be added', () => {
    expect(read(toCsv('foo', ['', 'NULL'])).doubts).toEqual([])
    expect(read('email,unsubscribed_at,foo\na@b.io,2024-01-01,x\n').doubts).toEqual([])
  })

  test.each<readonly [name: string, cells: readonly string[]]>([
    ['Type', ['SMTP', 'SMTP']],
    ['foo', ['2024-05-31', '2024-06-01 10:00']],
    ['Buyer', ['user0@b.io', 'USER1@b.io']],
  ])(
    'a column says nothing with one value that is no flag, a date in every row, or the address again: %s, %j',
    (name, cells) => {
      expect(read(toCsv(name, cells), { dateColumn: 'none' }).doubts).toEqual([])
      // One row shows nothing.
      const [doubt = ''] = read(toCsv(name, cells.slice(0, 1)), { dateColumn: 'none' }).doubts
      if (name !== 'Buyer') expect(doubt).toStartWith(SILENCE)
    },
  )

  test('the advice names the column first that is most likely to say it, and a fact is one line', () => {
    const text = 'Order #,email,Item,VIP,GDPR consent,Left on\n1,a@b.io,x,no,yes,2024-01-01\n2,b@b.io,y,yes,yes,\n'
    expect(read(text, { dateColumn: 'none' }).doubts).toEqual([
      `${SILENCE}, and "Left on" (its name), "GDPR consent", "VIP" (line 2 "no"), "Order #", "Item" are not read: ` +
        "--status-column 'Left on' if it does, --accept silence if not, --suppress if everybody left",
    ])
    // What a column says is a doubt also when nothing else has to.
    expect(read(text, { dateColumn: 'none', accept: ['silence'] }).doubts).toEqual([
      `"Left on" (its name), "VIP" (line 2 "no") say that somebody left, or no, and are not read: ` +
        "--status-column 'Left on' reads the first one, --ignore-column 'Left on' --ignore-column VIP reads none",
    ])
  })

  test('columns of bounces and of confirmations do not say who left', () => {
    for (const header of ['bounced', 'confirmed']) {
      const cell = header === 'bounced' ? 'no' : 'yes'
      expect(read(`email,${header},VIP\na@b.io,${cell},x\n`).doubts).toEqual([expect.stringContaining(SILENCE)])
    }
  })

  test('a header below an address is a row, and its columns are not known', () => {
    const { doubts, rejected } = read('By,x@b.io,\nName,Email,Left\nA,a@b.io,2024-05-31\n')
    expect(doubts[0]).toStartWith(`${SILENCE}, and "column 1", "column 3" are not read`)
    expect(rejected).toEqual([{ line: 2, reason: 'the address is not valid', cell: 'Email' }])
  })

  test('an export of subscribers only is no doubt', () => {
    expect(read('email,LEID,VIP\na@b.io,1,x\n').doubts).toEqual([])
  })

  test.each([
    ...[
      'unsubscribes.csv',
      'unsubscribed_members.csv',
      'Bounces.txt',
      'suppressions.csv',
      'complaints.csv',
      'blocklist.txt',
    ],
    ...['/tmp/cleaned.csv', 'nonsubscribed_members_export.csv', 'Abgemeldete.csv', 'désabonnés.txt', 'bajas.csv'],
    ...[
      'disiscritti.csv',
      'uitschrijvingen.csv',
      'wypisani.txt',
      'descadastrados.csv',
      'відписані.csv',
      '配信停止.txt',
    ],
    ...['退订.txt', 'opt-outs.csv', 'opted out 2024.csv', 'do-not-mail.csv', 'spam_reports.csv', 'inactive.csv'],
    ...['left.csv', 'former-subscribers.csv', 'Sperrliste.csv', 'Rückläufer.csv', 'Kündigungen.csv', 'rebonds.csv'],
    ...['lista-negra.csv', 'quejas.csv', 'rimbalzi.csv', 'klachten.csv', 'skargi.csv', 'reclamações.csv', '黑名单.csv'],
    ...[
      'чорний-список.csv',
      'メールバウンス.csv',
      'المحظورون.csv',
      'hardbounces.csv',
      'désabonnés 2.csv'.normalize('NFD'),
    ],
  ])('a file of the name %s is a doubt', (file) => {
    const advice = `the name of the file says that people left, but ${SILENCE}: --suppress if everybody left, --accept silence if nobody left`
    expect(read('a@b.io\n', {}, file).doubts).toEqual([advice])
    expect(read('email,LEID\na@b.io,1\n', {}, file).doubts).toEqual([advice])
    expect(read('a@b.io\n', { suppress: true }, file).doubts).toEqual([])
    expect(read('email,status\na@b.io,active\nb@b.io,unsubscribed\n', {}, file).doubts).toEqual([])
  })

  test.each([
    'subscribers.csv',
    '/unsubscribed/list.txt',
    'readers.txt',
    '-',
    'Abonnenten.csv',
    'clean-energy.csv',
    'blockchain.csv',
    'stop-motion.csv',
  ])('a file of the name %s is none', (file) => expect(read('a@b.io\n', {}, file).doubts).toEqual([]))
})

test.each([
  'Unsubscribed people\nE-Mail;Name\na@b.io;Ada\n',
  '# Abgemeldete\na@b.io\n',
  '{"unsubscribes":[{"email":"a@b.io"}],"total":1}',
])('a title that says that people left is a doubt: %j', (text) => {
  expect(read(text).doubts).toEqual([
    `the title says that people left, but ${SILENCE}: --suppress if everybody left, --accept silence if nobody left`,
  ])
})

test.each(['Unsubscribed:', 'Ada (abgemeldet) <a@b.io>', 'b@b.io (unsubscribed)', 'DO NOT MAIL <b@b.io>'])(
  'a cell of the address that says that somebody left is a doubt: %s',
  (cell) => {
    const others = Array.from({ length: 20 }, (_, index) => `a${index}@b.io`)
    const advice = `line 22 ${JSON.stringify(cell)} says that somebody left. Import people who left with --suppress`
    expect(read(['email', ...others, cell].join('\n')).doubts).toEqual([expect.stringContaining(advice)])
    expect(read(['email', ...others, cell].join('\n'), { suppress: true }).doubts).toEqual([])
  },
)

describe('a column that is not read says that somebody left', () => {
  const advice = (name: string, where: string) =>
    expect.stringContaining(`"${name}" says that somebody left (${where})`)

  test.each([
    ...['Unsubscribed', 'vip; unsubscribed', 'abgemeldet am 3.2.2024', 'UNSUBSCRIBED!! do not mail', 'NoMail', 'unsub'],
    ...['a mis à jour: désabonnée le 3 mai', '2月に配信停止を希望', 'Asked to opt-out by phone', 'please don’t email'],
    ...['please remove', 'Austritt 2023', 'ne souhaite plus recevoir', 'no quiere recibir', 'verstorben', '配信不要'],
    ...['hard bounce', '解約', 'revoked', '{"state":"unsubscribed"}', 'STOP', 'stop!'],
  ])('in a cell: %s', (cell) => {
    for (const name of ['foo', 'Name', 'Labels']) {
      const text = JSON.stringify({ email: 'a@b.io', status: 'active', [name]: cell })
      const shown = JSON.stringify(cell)
      expect(read(text).doubts).toEqual([advice(name, `record 1 ${shown}`)])
    }
    const pending = JSON.stringify({ email: 'a@b.io', status: 'pending', foo: cell })
    expect(read(pending).doubts).toHaveLength(1)
    const left = JSON.stringify({ email: 'a@b.io', status: 'unsubscribed', foo: cell })
    expect(read(left).doubts).toEqual([])
  })

  test('in a cell behind many others', () => {
    expect(read(toKnown('foo', [...NOTES, 'abgemeldet'])).doubts).toEqual([advice('foo', 'line 42 "abgemeldet"')])
  })

  test.each([
    ['Newsletter unsub', 'x'],
    ['Newsletter abbestellt', 'ja'],
    ['isUnsubscribed', 'true'],
    ['deactivated', '2024-05-31'],
    ['Motivo de la baja', 'molesta'],
    ['Optout reason', 'too many'],
  ])('by its name, with a value: %s', (name, cell) => {
    expect(read(toKnown(name, [cell, ''])).doubts).toEqual([advice(name, 'its name')])
    expect(read(toKnown(name, ['no', '0', ''])).doubts).toEqual([])
    const skipped = `email,active,${name}\na@b.io,yes,\nb@b.io,no,${cell}\n`
    expect(read(skipped).doubts).toEqual([advice(name, 'its name')])
  })

  test.each([
    ['foo', 'unsubstantiated'],
    ['foo', 'no mailing address'],
    ['foo', 'bus stop'],
    ['foo', 'Stop, Main Street'],
    ['foo', 'bounce@unsubscribed.io'],
    ['Website', 'https://site.io/unsubscribe'],
    ['SMS status', 'unsubscribed'],
    ['Unsubscribe URL', 'x'],
  ])('not in %s: %s', (name, cell) => {
    const { doubts } = read(toKnown(name, [cell]))
    expect(doubts.filter((doubt) => doubt.includes('somebody left'))).toEqual([])
  })
})

describe('a column that is not read says no for somebody, whatever the status says', () => {
  test.each([
    ...[
      'no',
      'nein',
      'Non',
      'нет'.replace('нет', 'ні'),
      'いいえ',
      'Do Not Allow',
      'not allowed',
      'nicht erlaubt',
      'niet toegestaan',
    ],
    ...['keine Werbung per Mail', 'ne pas autoriser', 'não permitir', '不允许', '許可しない'],
  ])('%s', (cell) => {
    const { doubts } = read(toKnown('foo', ['ok', cell]), { dateColumn: 'none' })
    expect(doubts).toEqual([expect.stringMatching(/^"foo" says (?:no for somebody|that somebody left) \(line 3 /)])
    // Who says no and is not added is no doubt.
    const skipped = `email,status,foo\na@b.io,active,ok\nb@b.io,pending,${cell}\n`
    if (doubts[0]?.includes('no for')) expect(read(skipped).doubts).toEqual([])
  })

  test.each<readonly [cells: readonly string[], isDoubt: boolean]>([
    [['true', 'false'], true],
    [['1', '0'], true],
    [['x', '0'], false],
    [['12', '0', '1'], false],
    [['m', 'f'], false],
    [['no', 'no'], false],
    [['no', ''], true],
    [['no'], true],
    [['Norway', 'Nonsense'], false],
    [['not'.repeat(30), 'ok'], false],
  ])('flags count if all values are flags, and differ: %j', (cells, isDoubt) => {
    expect(read(toKnown('foo', cells)).doubts).toHaveLength(isDoubt ? 1 : 0)
  })

  test('by a name that says that people left, and a value', () => {
    for (const name of ['left', 'gone', 'weg', 'removed_on', 'Bounce date', 'dnc', 'suspended_at', 'isExcluded']) {
      expect(read(toKnown(name, ['', 'x'])).doubts).toEqual([expect.stringContaining('(its name)')])
      expect(read(toKnown(name, ['', 'no'])).doubts).toEqual([])
    }
  })
})

describe('with --suppress, a known status that says subscribed', () => {
  test('is a doubt, and --ignore-column answers it', () => {
    const text = 'Email,Status\na@b.io,Unsubscribed\nb@b.io,Subscribed\nc@b.io,active\n'
    expect(read(text, { suppress: true }).doubts).toEqual([
      '"Status" says that people are subscribed ("Subscribed", 1 row), and --suppress removes everybody: --ignore-column Status if everybody left',
    ])
    expect(read(text, { suppress: true, ignoreColumn: ['Status'] }).doubts).toEqual([])
    expect(read('email,status,bounced\na@b.io,pending,no\nb@b.io,gone,no\n', { suppress: true }).doubts).toEqual([])
  })
})

test('every doubt that no other option answers has a kind that --accept answers', () => {
  const words = read('email\na@b.io\nAda (abgemeldet) <b@b.io>\nc@b.io\n', { accept: ['words'] })
  expect(words.doubts).toEqual([])
  expect(read('To news@site.io\nEmail,name\na@b.io,A\n', { accept: ['lines'] }).doubts).toEqual([])
  expect(read('a@b.io\n', { accept: ['silence'] }, 'unsubscribes.csv').doubts).toEqual([])
  expect(read('a@b.io\nx\n', { rejected: 'bad.csv' }).doubts).toEqual([])
})

describe('dates', () => {
  test.each([
    ['Submitted On', ['2024-05-31', '']],
    ['foo', ['45443', '45000.5']],
    ['created_at', ['45443', '45000,5']],
    ['created_at', ['20240531', '20240601']],
    ['ts', ['1717167840', '1717167840000']],
    ['foo', ['31.5.2024', 'unknown']],
  ])('that are not read are a doubt: %s, %j', (name, cells) => {
    const quoted = cells.map((cell) => `"${cell}"`)
    expect(read(toKnown(name, quoted)).doubts).toEqual([
      `no date is read, and none can be added later: --date-column ${quotePath(name)} reads it, --date-column none does not`,
    ])
    expect(read(toKnown(name, quoted), { dateColumn: 'none' }).doubts).toEqual([])
  })

  test('that are not in every row are a doubt', () => {
    const text = 'email,created_at\na@b.io,2024-05-31\nb@b.io,\n'
    expect(read(text).doubts).toEqual([
      '1 row would be added without a date, such as line 3 "b@b.io": --date-column created_at if that is right',
    ])
    expect(read(text, { dateColumn: 'created_at' }).doubts).toEqual([])
    expect(read('email,status,created_at\na@b.io,active,2024-05-31\nb@b.io,unsubscribed,\n').doubts).toEqual([])
  })

  test('of harmless columns are none', () => {
    expect(read(toKnown('birthday', ['1990-05-31'])).doubts).toEqual([])
  })
})

describe('rows', () => {
  test.each<readonly [what: string, text: string, doubt: string, options: Options]>([
    ['one in ten is rejected', `x\n${'a@b.io\nb@b.io\n'.repeat(4)}`, 'rejected are 1 of 9 rows', {}],
    ['more addresses elsewhere', 'email,owner\na@b.io,o@c.io\n,p@c.io\n', '"owner" has 2 addresses', {}],
    ['a second address', 'email,Email 2,x\na@b.io,c@b.io,\n', '"Email 2" has 1 address', {}],
    ['two columns of addresses', 'work,home\na@b.io,a@c.io\n', '"home" has 1 address', {}],
    ['two of the same name', 'E-Mail,email\na@b.io,a@c.io\n', '"email" has 1 address', {}],
    ['a header with an @', 'Email (@),name\na@b.io,A\n', 'line 1 is not read as a row: "Email (@),name"', {}],
    ['a title with an @', 'To news@site.io\nEmail,name\na@b.io,A\n', 'line 1 is not read as a row: "To news@', {}],
    ['no status', 'email,status\na@b.io,active\nb@b.io,\n', '1 row without a value of "status" will be skipped', {}],
  ])('%s', (_, text, doubt, options) => {
    expect(read(text, options).doubts).toContainEqual(expect.stringContaining(doubt))
  })

  test('less than one in ten is no doubt, and neither are other addresses when the owner named the column', () => {
    expect(read(`x\n${'a@b.io\nb@b.io\n'.repeat(5)}`).doubts).toEqual([])
    const text = 'email,owner\na@b.io,o@c.io\n,p@c.io\n'
    expect(read(text, { column: 'owner' }).doubts).toEqual([])
  })

  test('an empty value that a program does not have skips nobody without a doubt', () => {
    const text = 'Email,Subscribed,Country\na@b.io,2024-05-31,DE\nb@b.io,,FR\n'
    const doubt =
      '1 row without a value of "Subscribed" will be skipped: --treat Subscribed:=subscribed adds them, --treat Subscribed:=skip does not'
    expect(read(text).doubts).toEqual([doubt])
    expect(read(text, treat('Subscribed:=subscribed')).subscribers).toHaveLength(2)
  })
})

test('exports of programs with one status for all lists are a doubt', () => {
  const text = 'uuid,email,name,attributes,status\n1,a@b.io,A,{},enabled\n'
  expect(read(text).doubts).toEqual([expect.stringContaining('exports of listmonk do not say who left one list')])
  expect(read(text, { statusColumn: ['status'] }).doubts).toEqual([])
  expect(read(text.replace('enabled', 'blocklisted')).doubts).toEqual([])
})

test('an option in a doubt can be pasted into a shell as it is', () => {
  const name = `Who left? $(touch x) ${'and when '.repeat(9)}`.trim()
  const [doubt] = read(toCsv(name, ['unsubscribed'])).doubts
  expect(doubt).toContain(` --status-column '${name}' if it does`)
})
