; import a.b, import a.b as c
(import_statement name: (dotted_name) @specifier)
(import_statement name: (aliased_import name: (dotted_name) @specifier))

; from a.b import …, from ..a import …, from . import …
(import_from_statement module_name: (dotted_name) @specifier)
(import_from_statement module_name: (relative_import) @specifier)
