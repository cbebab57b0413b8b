; What a module declares at its top level: the statement, and the name or the pattern of names. `@inside`: what holds
; more declarations of that level.
[(ambient_declaration) (expression_statement . (internal_module))] @inside

(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(function_signature name: (_) @name) @function
(class_declaration name: (_) @name) @class
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(internal_module name: [(identifier) (nested_identifier)] @name) @namespace
(module name: [(identifier) (nested_identifier)] @name) @namespace
(lexical_declaration (variable_declarator name: (_) @name)) @variable
(variable_declaration (variable_declarator name: (_) @name)) @variable

; What it exports: what is declared inside, or a name, with its name inside as `@local`. `@value` is one where it is
; no more than a name.
(export_statement "default"? @default declaration: (_)) @inside @export
(export_statement declaration: (ambient_declaration) @erased) @inside @export
(export_statement "default" @default value: (_) @value) @export.one
(export_statement !value (identifier) @value @default) @export.one
(export_statement "type"? @erased
  (export_clause (export_specifier "type"? @erased name: (_) @local alias: (_)? @as) @export.one)
  source: (string)? @from)
(export_statement (namespace_export "*" @local (_) @as) source: (string) @from) @export.one
(export_statement "*" @as source: (string) @from) @export.one

; CommonJS.
(expression_statement . (assignment_expression left: (member_expression) @_whole @default right: (_) @value)
  (#eq? @_whole "module.exports")) @export.one
(expression_statement . (assignment_expression left: (member_expression) @_whole
    right: (call_expression function: (identifier) @_require arguments: (arguments . (string) @from)))
  (#eq? @_whole "module.exports") (#eq? @_require "require")) @export.star
(expression_statement . (assignment_expression left: (member_expression) @_whole
    right: (object (spread_element
      (call_expression function: (identifier) @_require arguments: (arguments . (string) @from))) @export.star))
  (#eq? @_whole "module.exports") (#eq? @_require "require"))
(expression_statement . (assignment_expression left: (member_expression) @_whole
    right: (object [(shorthand_property_identifier) @as @export.one (pair key: (_) @as value: (_) @value) @export.one]))
  (#eq? @_whole "module.exports"))
(expression_statement . (assignment_expression
    left: (member_expression object: (_) @_object property: (_) @as) right: (_) @value)
  (#any-of? @_object "exports" "module.exports")) @export.one
