// Snippets to paste, with the key of this page in them; one that pings gets a key that may do nothing else.
import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../kit/copy-button.tsx'
import { PingKey } from '../kit/ping-key.tsx'
import { useView } from '../kit/view.tsx'
import { FIRST_PING, fillIn, type Snippet, writeSnippets } from './snippets.ts'
import { Tabs } from './tabs.tsx'

interface Props {
  readonly secret: string | undefined
  readonly chosen: string
  choose(language: string): void
}

export function SnippetTabs({ secret = 'YOUR_API_KEY', chosen, choose }: Props) {
  const { app } = useView()
  const [token, setToken] = useState<string>()
  const settings = { baseUrl: app.baseUrl, keyHeader: app.keyHeader, secret, token }
  const snippets = writeSnippets(settings)
  const tabs = [...snippets, ...fillIn(useRecipes(), settings, snippets)].map(({ name, hint, text }) => ({
    label: name,
    content: (
      <div class="snippet">
        <div class="snippet-head">
          <p class="muted">{hint}</p>
          <CopyButton label="Copy" text={text} />
        </div>
        <pre tabIndex={0} role="region" aria-label={`${name} example`}>
          <code>{text}</code>
        </pre>
        {name === 'ping' && <PingKey process={FIRST_PING} token={token} made={setToken} />}
      </div>
    ),
  }))
  return <Tabs label="Languages" {...{ tabs, chosen, choose }} />
}

/** Those of the page Recipes; empty until they are there. */
function useRecipes(): readonly Snippet[] {
  const [recipes, setRecipes] = useState<readonly Snippet[]>([])
  useEffect(() => {
    fetch('clients/recipes')
      .then((answer) => answer.json())
      .then(setRecipes, () => {}) // the other tabs stay
  }, [])
  return recipes
}
