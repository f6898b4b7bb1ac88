// The console's only HTML page: it contains the script, the style and the settings that the script needs.

export interface ShellPage {
  /** Addresses relative to the page, so that it also works behind a proxy that adds a path. */
  readonly script: string
  readonly style: string
  /** The header that carries an API key. */
  readonly keyHeader: string
}

/** Nothing comes from elsewhere, nothing goes elsewhere, and nothing inside the page itself may run or style. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Three runs in their lanes; also drawn by kit/icons.ts. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect width='24' height='24' rx='6' fill='%230c6b5f'/%3E%3Cg fill='%23fff'%3E%3Crect x='4' y='6' width='9' height='3' rx='1.5'/%3E%3Crect x='8' y='10.5' width='12' height='3' rx='1.5'/%3E%3Crect x='5' y='15' width='6' height='3' rx='1.5'/%3E%3C/g%3E%3C/svg%3E"

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => NAMED[char]!)

export const shellPage = ({ script, style, keyHeader }: ShellPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="stint-key-header" content="${escapeHtml(keyHeader)}">
<title>Stint</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${escapeHtml(style)}">
</head>
<body>
<div id="app"></div>
<noscript><p>The console needs JavaScript. The API gives the same answers: see /swagger.</p></noscript>
<script type="module" src="${escapeHtml(script)}"></script>
</body>
</html>
`
