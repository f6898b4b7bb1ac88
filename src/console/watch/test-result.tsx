// The answers of receivers to a test, and the secret of a webhook, which is shown this once.
import { SecretBox } from '../kit/copy-button.tsx'
import { Modal } from '../kit/modal.tsx'

interface Props {
  readonly title: string
  readonly lines: readonly string[]
  readonly secret?: string | undefined
  close(): void
}

export const TestResult = ({ title, lines, secret, close }: Props) => (
  <Modal
    title={title}
    keep={secret === undefined ? undefined : 'Save the secret first: it is not shown again.'}
    close={close}
  >
    {lines.map((line) => (
      <p key={line} role="status">
        {line}
      </p>
    ))}
    {secret !== undefined && (
      <SecretBox name="Signing secret" secret={secret} copyLabel="Copy secret">
        <p class="muted">Your receiver verifies notifications with it. It is not shown again.</p>
      </SecretBox>
    )}
    <div class="form-buttons">
      <button type="button" class="button button-main" onClick={close}>
        {secret === undefined ? 'Done' : 'I’ve saved it'}
      </button>
    </div>
  </Modal>
)
