// Light or dark, as the system has it: what is drawn on a canvas must be drawn again when that changes.

/** Tells when the scheme changes; the result ends that. */
export function onSchemeChange(act: () => void): () => void {
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', act)
  return () => scheme.removeEventListener('change', act)
}
