// Ctrl-K or ⌘K: opens any page, process or uid by name. A combobox with a listbox, following the ARIA Authoring
// Practices.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { App } from './app.ts'
import type { AskProcesses } from './ask-processes.ts'
import { explainText } from './explain.ts'
import { findUid } from './find-uid.ts'
import { Modal } from './modal.tsx'
import { formatRoute } from './route.ts'

interface Target {
  readonly label: string
  readonly kind: string
  /** Absent: the run with this uid is looked for. */
  readonly href?: string
}

const SHOWN = 12
/** Also an id as a scheduler has it: the server finds the uid that clients make of it. */
const UID = /^\S{1,200}$/

interface QuickOpenProps extends Pick<App, 'api' | 'nowMs'> {
  readonly askProcesses: AskProcesses
  readonly pages: readonly (readonly [page: string, label: string])[]
  close(): void
}

export function QuickOpen({ api, nowMs, askProcesses, pages, close }: QuickOpenProps) {
  const [names, setNames] = useState<readonly string[]>([])
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [said, setSaid] = useState('')
  const looking = useRef<AbortController>(undefined)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    askProcesses().then(
      (entries) => setNames(entries.map(({ process }) => process)),
      () => {}, // pages and uids still work
    )
  }, [])
  useLayoutEffect(() => list.current!.children[at]?.scrollIntoView({ block: 'nearest' }), [at])
  const found = findTargets(text.trim(), pages, names)

  function open(target: Target | undefined): void {
    if (target === undefined) return
    if (target.href === undefined) return void lookFor(target.label)
    close()
    location.hash = target.href
  }
  async function lookFor(uid: string): Promise<void> {
    stopLooking()
    looking.current = new AbortController()
    const { signal } = looking.current
    setSaid('Looking for the run…')
    const found = await findUid(api.get, uid, nowMs(), signal).catch((error) => ({
      href: undefined,
      text: explainText(error),
    }))
    if (signal.aborted) return
    setSaid(found.text)
    if (found.href !== undefined) open({ label: uid, kind: '', href: found.href })
  }
  const stopLooking = () => looking.current?.abort()
  useEffect(() => stopLooking, [])
  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      setAt((at + step + found.length) % found.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      open(found[at])
    }
  }
  return (
    <Modal title="Go to" class="quick" close={close}>
      <div class="field">
        <input
          type="search"
          // biome-ignore lint/a11y/noRedundantRoles: an input has this role only with a datalist
          role="combobox"
          list={undefined}
          aria-label="Process, uid or page"
          aria-expanded
          aria-controls="quick-list"
          aria-autocomplete="list"
          aria-activedescendant={found.length > 0 ? `quick-${at}` : undefined}
          placeholder="Process, uid or page"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => {
            stopLooking()
            setSaid('')
            setText(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div class="quick-list" id="quick-list" role="listbox" aria-label="Results" ref={list}>
        {found.map((target, i) => (
          <div
            key={target.href ?? ''}
            id={`quick-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            onClick={() => open(target)}
          >
            <bdi>{target.label}</bdi>
            <span class="muted">{target.kind}</span>
          </div>
        ))}
      </div>
      <p class="muted" role="status">
        {said}
      </p>
    </Modal>
  )
}

/** Pages, processes and, last, the uid that the text may be: those with all its words. */
function findTargets(text: string, pages: QuickOpenProps['pages'], names: readonly string[]): Target[] {
  const typed = text.toLocaleLowerCase()
  const words = typed.split(/\s+/)
  const isIn = (name: string) => words.every((word) => name.toLocaleLowerCase().includes(word))
  const hasTyped = (name: string) => name.toLocaleLowerCase().includes(typed) // before the same words apart
  const found = [
    ...pages
      .filter(([, label]) => isIn(label))
      .map(([page, label]) => ({ label, kind: 'Page', href: formatRoute(page) })),
    ...names
      .filter(isIn)
      .toSorted((a, b) => Number(hasTyped(b)) - Number(hasTyped(a)))
      .map((process) => ({ label: process, kind: 'Process', href: formatRoute('process', { process }) })),
    ...(UID.test(text) ? [{ label: text, kind: 'Run with uid' }] : []),
  ]
  return [...found.slice(0, SHOWN - 1), ...found.slice(SHOWN - 1).slice(-1)]
}
