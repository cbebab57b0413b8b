; What is shown of a file. `@statements` holds statements; `@hidden` is left out of a skeleton.
[(module) (block)] @statements
(function_definition body: (block) @hidden)

(decorated_definition definition: (_ name: (_) @name body: (_)? @body)) @definition
(function_definition name: (_) @name body: (_)? @body) @definition
(class_definition name: (_) @name body: (_)? @body) @definition
(module (expression_statement . (assignment left: (identifier) @name)) @definition)
