; What a name is where it stands; the first pattern that captures it decides. The parts of a capture's name: `bound`
; and `member` by something of the file's own, `shadowed`, `typed`, `value`; `place`: it stands for what it
; means. A name that is not captured is used. `@types` makes a
; type of all below it.
(import_statement name: (dotted_name (identifier) @place))
(import_statement name: (aliased_import name: (dotted_name (identifier) @place) alias: (identifier) @place))
(import_from_statement module_name: (dotted_name (identifier) @none))
(relative_import (dotted_name (identifier) @none))
(import_from_statement name: (dotted_name (identifier) @place))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @place) alias: (identifier) @place))
(future_import_statement name: (dotted_name (identifier) @place))
(future_import_statement
  name: (aliased_import name: (dotted_name (identifier) @place) alias: (identifier) @place))

; `self.name = …`: the bare name is a slip for it.
(assignment left: (attribute object: (identifier) @_self attribute: (_) @bound) (#any-of? @_self "self" "cls"))
(augmented_assignment left: (attribute object: (identifier) @_self attribute: (_) @bound)
  (#any-of? @_self "self" "cls"))
(attribute attribute: (_) @none)
(keyword_argument name: (_) @none)

[
  (parameters (identifier) @shadowed) (lambda_parameters (identifier) @shadowed)
  (list_splat_pattern (identifier) @shadowed) (dictionary_splat_pattern (identifier) @shadowed)
  (default_parameter name: (identifier) @shadowed) (typed_default_parameter name: (identifier) @shadowed)
  (typed_parameter . (identifier) @shadowed)
]

(class_definition body: (block (function_definition name: (_) @member)))
(class_definition body: (block (decorated_definition definition: (function_definition name: (_) @member))))
[
  (function_definition name: (_) @bound) (class_definition name: (_) @bound)
  (as_pattern_target (identifier) @bound) (pattern_list (identifier) @bound) (list_pattern (identifier) @bound)
  (tuple_pattern (identifier) @bound) (delete_statement (identifier) @bound)
  (global_statement (identifier) @bound) (nonlocal_statement (identifier) @bound)
  (named_expression name: (identifier) @bound) (assignment left: (identifier) @bound)
  (augmented_assignment left: (identifier) @bound) (for_statement left: (identifier) @bound)
  (for_in_clause left: (identifier) @bound)
]
; A name alone in a pattern is bound, that of a class is not.
(case_pattern (dotted_name . (identifier) @bound .))

(attribute object: (_) @object attribute: (_) @part)
(call function: (identifier) @called)
(type) @types
