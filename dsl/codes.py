"""Every diagnostic itbc's language knows, in one table.

ITB0xx files, 1xx syntax, 2xx structure, 3xx values, 4xx names and imports, 5xx applications, 6xx faults, 7xx truth,
triggers and outcome, 8xx not yet available. Each has a page `docs/diagnostics/CODE.md`.
"""

from __future__ import annotations

from itbc.dsl.diagnostics import Code, Severity

CODES: dict[str, Code] = {}
"""All codes by id, in order."""


def _code(identity: str, slug: str, headline: str, severity: Severity = "error") -> Code:
    code = Code(identity, slug, severity, headline)
    CODES[identity] = code
    return code


FILE_MISSING = _code("ITB001", "file-missing", "no such file or folder")
FILE_NOT_TEXT = _code("ITB002", "file-not-text", "the file isn't UTF-8 text")
FILE_UNREADABLE = _code("ITB003", "file-unreadable", "the file can't be read")
FILE_TOO_LARGE = _code("ITB004", "file-too-large", "the file is too large")
NOTHING_TO_CHECK = _code("ITB005", "nothing-to-check", "there is no .itb file here")
NO_SCENARIO = _code("ITB006", "no-scenario", "there is no scenario here")

UNEXPECTED_TOKEN = _code("ITB101", "unexpected-token", "this can't stand here")
UNTERMINATED_STRING = _code("ITB102", "unterminated-string", "a string isn't closed on its line")
UNEXPECTED_CHARACTER = _code("ITB103", "unexpected-character", "this character means nothing here")
UNCLOSED_COMMENT = _code("ITB104", "unclosed-comment", "a comment is never closed")
UNCLOSED_BLOCK = _code("ITB105", "unclosed-block", "a block is never closed")
UNCLOSED_BRACKET = _code("ITB106", "unclosed-bracket", "a bracket is never closed")
STRAY_BRACE = _code("ITB107", "stray-brace", "a closing brace that closes nothing")
ONE_LINE_BLOCK = _code("ITB108", "one-line-block", "a block on one line holds at most one attribute")
UNQUOTED_LABEL = _code("ITB109", "unquoted-label", "a label isn't quoted")
UNQUOTED_QUANTITY = _code("ITB110", "unquoted-quantity", "a number with a unit isn't quoted")
SINGLE_QUOTES = _code("ITB111", "single-quotes", "strings have double quotes")
TEMPLATE = _code("ITB112", "template", "strings have no templates")
BAD_ESCAPE = _code("ITB113", "bad-escape", "unknown escape in a string")
HEREDOC = _code("ITB114", "heredoc", "there are no multi-line strings")
TOO_DEEP = _code("ITB115", "too-deep", "nested too deeply")
TOO_MANY_ERRORS = _code("ITB116", "too-many-errors", "too many syntax errors in this file")
NUMBER_RANGE = _code("ITB117", "number-range", "not a number that can be used")
DUPLICATE_KEY = _code("ITB118", "duplicate-key", "a key is given twice")
CONTROL_CHARACTER = _code("ITB119", "control-character", "an invisible character in a string")
COLON_IN_OBJECT = _code("ITB120", "colon-in-object", "keys and values are joined by `=`")
MISPLACED_COMMENT = _code("ITB121", "misplaced-comment", "a comment can't stand here")
BYTE_ORDER_MARK = _code("ITB122", "byte-order-mark", "the file begins with a byte order mark")
ESCAPE_IN_LABEL = _code("ITB123", "escape-in-label", "labels have no escapes")

UNKNOWN_BLOCK = _code("ITB201", "unknown-block", "unknown block")
UNKNOWN_ATTRIBUTE = _code("ITB202", "unknown-attribute", "unknown attribute")
MISSING_ATTRIBUTE = _code("ITB203", "missing-attribute", "a required attribute is missing")
MISSING_BLOCK = _code("ITB204", "missing-block", "a required block is missing")
DUPLICATE_ATTRIBUTE = _code("ITB205", "duplicate-attribute", "an attribute is given twice")
REPEATED_BLOCK = _code("ITB206", "repeated-block", "a block may stand here only once")
LABEL_COUNT = _code("ITB207", "label-count", "wrong number of labels")
BAD_LABEL = _code("ITB208", "bad-label", "not a name that can be used")
BLOCK_AS_ATTRIBUTE = _code("ITB209", "block-as-attribute", "this is a block, not an attribute")
ATTRIBUTE_AS_BLOCK = _code("ITB210", "attribute-as-block", "this is an attribute, not a block")

WRONG_TYPE = _code("ITB301", "wrong-type", "wrong type of value")
BAD_DURATION = _code("ITB302", "bad-duration", "not a duration")
BAD_QUANTITY = _code("ITB303", "bad-quantity", "not a quantity")
OUT_OF_RANGE = _code("ITB304", "out-of-range", "the value is out of range")
UNKNOWN_KEYWORD = _code("ITB305", "unknown-keyword", "unknown keyword")
BAD_TEXT = _code("ITB306", "bad-text", "the text can't be used here")
UNKNOWN_FUNCTION = _code("ITB307", "unknown-function", "unknown function")
BAD_OPERATION = _code("ITB308", "bad-operation", "this can't be computed")
BAD_QUERY = _code("ITB309", "bad-query", "not a PromQL expression")
REPEATED_ITEM = _code("ITB310", "repeated-item", "the same item twice")
EXACTLY_ONE = _code("ITB311", "exactly-one", "exactly one of these attributes is needed")
BAD_PATH = _code("ITB312", "bad-path", "not a path that can be used")

IMPORT_MISSING = _code("ITB401", "import-missing", "the imported file doesn't exist")
IMPORT_CYCLE = _code("ITB402", "import-cycle", "files import each other in a circle")
IMPORT_OF_SCENARIO = _code("ITB403", "import-of-scenario", "a scenario can't be imported")
DUPLICATE_NAME = _code("ITB404", "duplicate-name", "the name is taken")
UNKNOWN_NAME = _code("ITB405", "unknown-name", "unknown name")
WRONG_KIND_OF_NAME = _code("ITB406", "wrong-kind-of-name", "the name is of another kind")
REPEATED_IMPORT = _code("ITB407", "repeated-import", "the same file is imported twice")

MANIFEST_MISSING = _code("ITB501", "manifest-missing", "no Kubernetes manifests here")
MANIFEST_SYNTAX = _code("ITB502", "manifest-syntax", "the manifest isn't YAML that Kubernetes would take")
MANIFEST_NOT_OBJECT = _code("ITB503", "manifest-not-object", "not a Kubernetes object")
MANIFEST_NAMESPACE = _code("ITB504", "manifest-namespace", "the object is in another namespace than its application")
DUPLICATE_OBJECT = _code("ITB505", "duplicate-object", "the same object is declared twice")
IMAGE_SOURCE = _code("ITB506", "image-source", "the image can't be built from this folder")
IMAGE_UNUSED = _code("ITB507", "image-unused", "no manifest uses this image", "warning")
SHARED_OBJECT = _code("ITB508", "shared-object", "an object belongs to two components")
UNKNOWN_SETTING = _code("ITB509", "unknown-setting", "the application has no such load setting")
LOAD_VARIABLE = _code("ITB510", "load-variable", "the load can't be set in this workload")
CALLS_ITSELF = _code("ITB511", "calls-itself", "a component calls itself")
BAD_MASK = _code("ITB512", "bad-mask", "not a mask of telemetry")

UNKNOWN_FAULT = _code("ITB601", "unknown-fault", "unknown kind of fault")
FAULT_TARGET = _code("ITB602", "fault-target", "this fault can't aim at this")
UNKNOWN_PARAMETER = _code("ITB603", "unknown-parameter", "the fault has no such parameter")
MISSING_PARAMETER = _code("ITB604", "missing-parameter", "a parameter of the fault is missing")
FAULT_PROBLEM = _code("ITB605", "fault-problem", "the fault can't work as written")
FAULTS_COLLIDE = _code("ITB606", "faults-collide", "two faults change the same thing")

CAUSE_UNTOUCHED = _code("ITB701", "cause-untouched", "no fault touches this root cause")
TOUCHED_NOT_CAUSE = _code("ITB702", "touched-not-cause", "a fault touches what the truth doesn't name")
CHAIN_BROKEN = _code("ITB703", "chain-broken", "the chain doesn't follow the calls")
CHAIN_START = _code("ITB704", "chain-start", "the chain doesn't begin at a root cause")
CHAIN_END = _code("ITB705", "chain-end", "the chain doesn't end where the alert is")
ALERT_NOT_RAISED = _code("ITB706", "alert-not-raised", "no rule of this cluster raises this alert")
LABEL_CONTRADICTION = _code("ITB707", "label-contradiction", "the rule never gives this label value")
METRICS_OFF = _code("ITB708", "metrics-off", "this needs metrics, and metrics are off")
WITHOUT_PART = _code("ITB709", "without-part", "the scenario lacks a part that its persona needs")
WHICH_CLUSTER = _code("ITB710", "which-cluster", "it isn't clear which cluster is meant")
UNKNOWN_RESOURCE = _code("ITB711", "unknown-resource", "not a resource of the Kubernetes API")

NOT_AVAILABLE = _code("ITB801", "not-available", "the meaning of this block isn't checked yet")
