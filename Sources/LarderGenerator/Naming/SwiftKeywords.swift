/// Names that a generated declaration cannot have as they are.
enum SwiftKeywords {
  /// Words that a declaration writes in backticks.
  static let all: Set = [
    "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
    "else",
    "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "inout",
    "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat",
    "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while",
  ]

  /// Properties that have another meaning: those of every generated type, and those of the values in the closures of
  /// queries, which members of the same name would hide.
  static let properties: Set = [
    "_", "self", "init", "hashValue", "as", "isOf", "path", "item", "odataTypeName", "odataType", "odataKey",
    "odataDerived", "odataSelection",
    "odataValue", "odataProperties", "odataParts", "odataState", "odataChanges", "odataLinks",
    "odataDynamic", "odataSent", "odataList",
  ]

  /// Members of a generated service.
  static let services: Set = ["self", "init", "store", "selectsDeclared", "_"]

  /// Names that a parameter would hide in the body of a method.
  static let parameters: Set = services.union(["odataCall", "odataList"])

  /// Methods and properties that entity sets, entities and services of typed stores have.
  static let methods: Set = [
    "_", "self", "init", "store", "selectsDeclared", "query", "options", "all", "first", "count", "pages", "live",
    "get",
    "create", "update", "delete", "link", "unlink", "expand", "filter", "orderBy", "search", "skip", "top", "odataCall",
    "reading", "creating", "updating", "deleting", "linking", "unlinking", "media", "updateMedia", "createMedia",
    "mediaPath",
  ]

  /// Members of an enumeration that have another meaning; `.none` and `.some` would be those of an optional.
  static let enumerationMembers: Set = [
    "_", "self", "init", "none", "some", "hashValue", "rawValue", "allCases", "odataTypeName", "odataMembers",
    "odataValue",
    "odataExpression", "odataIdentity", "odataMemberValues",
  ]

  /// Types that generated code uses, or contains in other types.
  static let types: Set = [
    // The language and its library.
    "Any", "AnyObject", "Array", "Bool", "CaseIterable", "Character", "Codable", "CodingKey", "Collection",
    "Comparable", "Data", "Decodable", "Decoder", "Dictionary", "Double", "Encodable", "Encoder", "Equatable", "Error",
    "Float", "Hashable", "Hasher", "Identifiable", "Int", "Int8", "Int16", "Int32", "Int64", "Never", "Optional",
    "Protocol", "RawRepresentable", "Result", "Self", "Sendable", "Set", "String", "Swift", "Task", "Type", "UInt",
    "UInt8", "UInt16", "UInt32", "UInt64", "UUID", "Void",
    // Of the language and of Foundation, beside which an application uses the generated types.
    "Calendar", "Clock", "ClosedRange", "Date", "DateComponents", "DateInterval", "Decimal", "Duration", "KeyPath",
    "Locale", "MainActor", "Range", "Sequence", "StaticString", "Substring", "TimeInterval", "TimeZone", "URL",
    // Inside of generated types.
    "AllCases", "CodingKeys", "Create", "Element", "Entity", "Fields", "ID", "Key", "RawValue", "Update", "Value",
    "CollectionField", "ComplexCollection", "ComplexField", "Field", "Navigation", "NavigationCollection",
    "StreamField", "UnexpandableCollection", "UnexpandableNavigation", "Unfilterable", "Unsortable",
  ]

  /// Larder's types with the names that a suffix can make: `ODataComplex` would become `ODataComplexValue`.
  static let suffixedTypes: Set = [
    "ODataComplexValue", "ODataDerivedValue", "ODataEntity", "ODataEnumeration", "ODataExpandedEntity",
    "ODataMediaEntity", "ODataValue",
  ]

  /// Whether a type of this name would hide one that generated code uses.
  static func isReservedType(_ name: String) -> Bool { name == "_" || types.contains(name) || name.hasPrefix("OData") }
}
