; What is shown of a file. `@statements` holds statements; `@hidden` is left out of a skeleton.
[
  (program) (statement_block) (class_body) (interface_body) (object_type) (object) (enum_body)
  (switch_body) (switch_case) (switch_default)
] @statements
[
  (function_declaration body: (statement_block) @hidden) (function_expression body: (statement_block) @hidden)
  (generator_function body: (statement_block) @hidden)
  (generator_function_declaration body: (statement_block) @hidden)
  (arrow_function body: (statement_block) @hidden) (method_definition body: (statement_block) @hidden)
]

[
  (export_statement declaration: (_ name: (_) @name body: (_)? @body))
  (export_statement declaration:
    (lexical_declaration . (variable_declarator name: (_) @name value: (_ body: (_) @body)?)))
  (export_statement declaration:
    (variable_declaration . (variable_declarator name: (_) @name value: (_ body: (_) @body)?)))
] @definition
(program
  (lexical_declaration . (variable_declarator name: (_) @name value: (_ body: (_) @body)?)) @definition)
(program
  (variable_declaration . (variable_declarator name: (_) @name value: (_ body: (_) @body)?)) @definition)
(lexical_declaration . (variable_declarator name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
    (generator_function body: (_) @body) (class body: (_) @body)])) @definition
(variable_declaration . (variable_declarator name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
    (generator_function body: (_) @body) (class body: (_) @body)])) @definition
[
  (function_declaration name: (_) @name body: (_)? @body)
  (generator_function_declaration name: (_) @name body: (_)? @body)
  (function_signature name: (_) @name)
  (class_declaration name: (_) @name body: (_)? @body)
  (abstract_class_declaration name: (_) @name body: (_)? @body)
  (interface_declaration name: (_) @name body: (_)? @body)
  (type_alias_declaration name: (_) @name)
  (enum_declaration name: (_) @name body: (_)? @body)
  (internal_module name: (_) @name body: (_)? @body)
  (method_definition name: (_) @name body: (_)? @body)
  (public_field_definition name: (_) @name)
  (pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function) (class)])
] @definition

; A test that is a call: its title and its function.
(expression_statement . (call_expression arguments: (arguments . [(string) (template_string)] @title
  [(arrow_function) (function_expression) (generator_function) (class)]))) @definition
(expression_statement . (await_expression . (call_expression arguments: (arguments
  . [(string) (template_string)] @title
  [(arrow_function) (function_expression) (generator_function) (class)])))) @definition
