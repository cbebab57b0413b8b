; import … from 'x', import 'x', import type … from 'x'
(import_statement source: (string) @specifier)

; import x = require('x')
(import_statement (import_require_clause source: (string) @specifier))

; export … from 'x', export * from 'x'
(export_statement source: (string) @specifier)

; import('x'), also in type positions
(call_expression
  function: (import)
  arguments: (arguments . (string) @specifier))

; require('x')
(call_expression
  function: (identifier) @function
  arguments: (arguments . (string) @specifier)
  (#eq? @function "require"))

; require.resolve('x'), jest.mock('x'), vi.mock('x') and their relatives
(call_expression
  function: (member_expression
    object: (identifier) @object
    property: (property_identifier) @method)
  arguments: (arguments . (string) @specifier)
  (#any-of? @object "require" "jest" "vi" "vitest")
  (#any-of? @method
    "resolve" "mock" "doMock" "unmock" "dontMock" "requireActual" "requireMock" "importActual"
    "importMock" "doUnmock"))
