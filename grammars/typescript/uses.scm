; What a name is where it stands; the first pattern that captures it decides. The parts of a capture's name: `bound`
; by something of the file's own, `shadowed`, `typed`, `value`; `place`: it stands for what it means. A name
; that is not captured is used. `@types` makes a type of all below it.
[
  (import_specifier (_) @place) (import_clause (_) @place) (namespace_import (_) @place)
  (import_require_clause (_) @place)
]

; `this.name = …`: the bare name is a slip for it.
(assignment_expression left: (member_expression object: (this) property: (property_identifier) @bound))
[(property_identifier) (statement_identifier)] @none

[
  (catch_clause parameter: (identifier) @bound.place) (shorthand_property_identifier_pattern) @bound.place
  (function_declaration name: (_) @bound.place) (generator_function_declaration name: (_) @bound.place)
  (class_declaration name: (_) @bound.place) (abstract_class_declaration name: (_) @bound.place)
  (interface_declaration name: (_) @bound.place) (enum_declaration name: (_) @bound.place)
  (internal_module name: (_) @bound.place) (type_parameter name: (_) @bound.place)
  (type_alias_declaration name: (_) @bound.place) (variable_declarator name: (identifier) @bound.place)
  (assignment_expression left: (identifier) @bound.place)
  (augmented_assignment_expression left: (identifier) @bound.place)
  (for_in_statement left: (identifier) @bound.place)
]

[(type_identifier) @typed.place (type_query (identifier) @typed.place)]
(shorthand_property_identifier) @value.shadowed.place
[
  (required_parameter (identifier) @shadowed.place) (optional_parameter (identifier) @shadowed.place)
  (rest_pattern (identifier) @shadowed.place) (arrow_function parameter: (identifier) @shadowed.place)
]
(export_specifier (identifier) @shadowed.place)

(class_body (_ name: (_) @method))
(member_expression object: (_) @object property: (_) @part)
(nested_type_identifier module: (_) @object name: (_) @part)
(nested_identifier object: (_) @object property: (_) @part)
[
  (call_expression function: (identifier) @called) (new_expression constructor: (identifier) @called)
  (jsx_opening_element name: (_) @called) (jsx_closing_element name: (_) @called)
  (jsx_self_closing_element name: (_) @called)
]
[(type_query) (nested_type_identifier)] @types
