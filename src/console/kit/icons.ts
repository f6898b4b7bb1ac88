// The icons: 24 × 24 units, stroke width 1.75. Each accompanies a text.

export const PATHS = {
  runs: ['M4 7h9', 'M8 12h12', 'M5 17h6'],
  metrics: ['M4 19V5', 'M4 19h16', 'M7.5 14.5l3.5-4 3 2.5 5-6.5'],
  exceptions: ['M12 4l9 15.5H3z', 'M12 10v4.5', 'M12 17v.2'],
  home: ['M4 11l8-6.5 8 6.5', 'M6 9.5V19h12V9.5', 'M10 19v-5h4v5'],
  watches: ['M12 4a5.5 5.5 0 0 1 5.5 5.5c0 5 2 6.5 2 6.5h-15s2-1.5 2-6.5A5.5 5.5 0 0 1 12 4z', 'M10 19.5h4'],
  keys: ['M8 15.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8z', 'M12 11.5h9', 'M18 11.5v3.5'],
  health: ['M3 12h4l2.5-6 4 12 2.5-6h5'],
  account: ['M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z', 'M4.5 20c1-4 4-5.5 7.5-5.5s6.5 1.5 7.5 5.5'],
  empty: ['M4 7h9', 'M8 12h12', 'M5 17h6'],
  warning: ['M12 4l9 15.5H3z', 'M12 10v4.5', 'M12 17v.2'],
  close: ['M6 6l12 12', 'M18 6L6 18'],
  search: ['M11 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12z', 'M15.5 15.5L20 20'],
  welcome: ['M4 12l16-7-5.5 15-3.5-6z', 'M11 14l9-9'],
  menu: ['M4 7h16', 'M4 12h16', 'M4 17h16'],
  copy: ['M9 9h11v11H9z', 'M15 9V4H4v11h5'],
  check: ['M5 12.5l4.5 4.5L19 7.5'],
  members: [
    'M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z',
    'M3 19.5c.8-3.4 3-5 6-5s5.2 1.6 6 5',
    'M15.5 5a3.3 3.3 0 0 1 0 6.2',
    'M17.5 14.9c1.8.7 3 2.2 3.5 4.6',
  ],
  accounts: ['M4 5h16v5H4z', 'M4 14h16v5H4z', 'M7 7.5h.2', 'M7 16.5h.2'],
  audit: ['M6 4h12v16H6z', 'M9 9h6', 'M9 13h6'],
  settings: ['M4 7h8', 'M16 7h4', 'M14 5v4', 'M4 12h2', 'M10 12h10', 'M8 10v4', 'M4 17h9', 'M17 17h3', 'M15 15v4'],
  api: ['M8.5 7L4 12l4.5 5', 'M15.5 7l4.5 5-4.5 5'],
} as const

export type IconName = keyof typeof PATHS
