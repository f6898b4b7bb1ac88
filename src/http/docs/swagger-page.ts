// The page of /swagger: Swagger UI from this machine's own files. Nothing on it comes from elsewhere, and the policy lets nothing
// come from or go elsewhere: people paste their keys here.

/** Addresses are relative, so that the page also works behind a proxy that adds a path. */
export const SWAGGER_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stint API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="swagger/assets/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="swagger/assets/swagger-ui-bundle.js"></script>
<script src="swagger/assets/page.js"></script>
</body>
</html>
`

/** A file of its own, because the policy allows no script inside the page. */
export const SWAGGER_SCRIPT = `SwaggerUIBundle({
  url: 'swagger/json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
})
`

export const SWAGGER_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
