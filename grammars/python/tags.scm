; What a module binds at its top level: the statement, and the name or the pattern of names. `@inside`: what holds
; more statements of that level.
[
  (if_statement) (elif_clause) (else_clause) (try_statement) (except_clause) (finally_clause) (while_statement)
  (for_statement) (with_statement) (match_statement) (case_clause) (block) (ERROR)
] @inside

(function_definition name: (_) @name) @function
(class_definition name: (_) @name) @class
(decorated_definition definition: (function_definition name: (_) @name)) @function
(decorated_definition definition: (class_definition name: (_) @name)) @class
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)])) @type
(expression_statement . (assignment) @name) @variable
(for_statement left: (_) @name @variable) @_for

; pytest imports what `pytest_plugins` names.
(expression_statement
  (assignment left: (identifier) @_plugins right: [(string) @import (_ (string) @import)])
  (#eq? @_plugins "pytest_plugins"))
