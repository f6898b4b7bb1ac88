// The processes of a watch, and what is asked rarely: its meta, its name and reminders.
import { useEffect, useState } from 'preact/hooks'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { App } from '../kit/app.ts'
import { metaOptions } from '../kit/ask-processes.ts'
import { FieldFrame } from '../kit/form.tsx'
import { Select } from '../kit/select.tsx'
import { useId } from '../kit/use-id.ts'
import { Fold, FurtherLines } from './watch-lines.tsx'
import type { WatchValues } from './watch-values.ts'

interface Props {
  readonly values: WatchValues
  readonly processes: readonly ProcessEntry[]
  change(changes: Partial<WatchValues>): void
}

/** Those that the fields offer; without them they offer none. */
export function useProcesses(app: App): readonly ProcessEntry[] {
  const [processes, setProcesses] = useState<readonly ProcessEntry[]>([])
  useEffect(() => void app.askProcesses().then(setProcesses, () => {}), [])
  return processes
}

export function ProcessField({ values, processes, change, entered }: Props & { entered(process: string): void }) {
  const id = useId()
  return (
    <FieldFrame name="process" label="Process" hint="Exact, or with * for any text.">
      {(about) => (
        <>
          <input
            {...about}
            name="process"
            autocomplete="off"
            maxLength={250}
            required
            list={id}
            value={values.process}
            onInput={({ currentTarget }) => change({ process: currentTarget.value })}
            onChange={({ currentTarget }) => entered(currentTarget.value)}
          />
          <datalist id={id}>
            {processes.map(({ process }) => (
              <option key={process} value={process} />
            ))}
          </datalist>
        </>
      )}
    </FieldFrame>
  )
}

/** Open at first if the watch uses any of it. */
export function MoreConditions({ values, processes, before, change }: Props & { readonly before: WatchValues }) {
  const { isSlow, hasMetric, meta, remind, after, exceptions } = before
  const isUsed = isSlow || hasMetric || meta !== undefined || remind !== '' || after !== '1' || !exceptions
  const text = (name: 'name' | 'remind', label: string, hint: string, placeholder: string, maxLength: number) => (
    <FieldFrame name={name} label={label} hint={hint}>
      {(about) => (
        <input
          {...about}
          {...{ name, placeholder, maxLength }}
          autocomplete="off"
          value={values[name]}
          onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      )}
    </FieldFrame>
  )
  return (
    <Fold label="More conditions" isOpen={isUsed}>
      <FurtherLines values={values} change={change} />
      <div class="field-pair">
        <Select
          label="Meta"
          options={metaOptions(processes, values.process, values.meta)}
          chosen={values.meta}
          choose={(chosen) => change({ meta: chosen })}
        />
        {text('remind', 'Remind every', 'Repeats the notification while it fires.', 'never', 12)}
        {text('name', 'Name', 'Of the watch, in its notifications.', values.process, 100)}
      </div>
    </Fold>
  )
}
