// A labelled field that searches while somebody types, a moment after the last key, or once a text is entered. A poll
// changes nothing in it.
import { useEffect, useRef } from 'preact/hooks'
import { useId } from './use-id.ts'

const TYPING_MS = 300

interface Props {
  readonly label: string
  readonly placeholder: string
  readonly text: string
  readonly isEntered?: boolean | undefined
  readonly maxLength?: number | undefined
  search(text: string): void
}

export function SearchField({ label, placeholder, text, isEntered = false, maxLength = 200, search }: Props) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (document.activeElement !== input.current) input.current!.value = text
  }, [text])
  useEffect(() => () => clearTimeout(typing.current), [])
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        ref={input}
        type="search"
        autocomplete="off"
        maxLength={maxLength}
        placeholder={placeholder}
        spellcheck={!isEntered}
        onChange={({ currentTarget }) => isEntered && search(currentTarget.value.trim())}
        onInput={({ currentTarget }) => {
          if (isEntered) return
          clearTimeout(typing.current)
          typing.current = setTimeout(() => search(currentTarget.value.trim()), TYPING_MS)
        }}
      />
    </div>
  )
}
