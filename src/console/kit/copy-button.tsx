// Copies a text to the clipboard. Browsers have no clipboard API over plain HTTP: the text is then selected and copied.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

const REPORTED_MS = 2_000

/** `label`: `Copy key`. */
export function CopyButton({ label, text }: { label: string; text: string }) {
  const [isDone, setDone] = useState<boolean>()
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  async function act(): Promise<void> {
    setDone(await copy(text))
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setDone(undefined), REPORTED_MS)
  }
  return (
    <button type="button" class="button" title={label} onClick={() => void act()}>
      <Icon name={isDone === undefined ? 'copy' : isDone ? 'check' : 'warning'} />
      <span aria-live="polite">{isDone === undefined ? label : isDone ? 'Copied' : 'Copy failed: select it'}</span>
    </button>
  )
}

interface SecretProps {
  readonly name: string
  readonly secret: string
  readonly copyLabel: string
  readonly children?: ComponentChildren
}

export const SecretBox = ({ name, secret, copyLabel, children }: SecretProps) => (
  <div class="secret">
    <code class="secret-text" role="group" tabIndex={0} aria-label={name}>
      {secret}
    </code>
    <CopyButton label={copyLabel} text={secret} />
    {children}
  </div>
)

/** Shows a key, which is never shown again. */
export const KeySecret = ({ secret }: { secret: string }) => (
  <SecretBox name="Your API key" secret={secret} copyLabel="Copy key">
    <p class="muted">Shown only this once. Keep it in a secret store or an environment variable, not in your code.</p>
  </SecretBox>
)

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text) // no permission, or no clipboard in this context
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.className = 'hidden'
  area.setAttribute('aria-hidden', 'true')
  area.value = text
  ;(document.querySelector('dialog[open]') ?? document.body).append(area) // behind a dialog nothing takes the focus
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  return isDone
}
