/// The Swift names of all types of a model, whichever of them are generated: a selection does not change a name.
struct TypeNames {
  /// A declaration that becomes a Swift type.
  struct Declaration {
    let namespace: String
    let name: String
    /// What follows the name if Swift or generated code uses it: `SetEntity`.
    let suffix: String
    /// The name without a part that the entity sets of the type do not have: `Order` for `OrderType`.
    var shortName: String?

    var qualifiedName: String { namespace.isEmpty ? name : namespace + "." + name }
  }

  private var names: [String: String] = [:]
  /// All Swift names.
  private(set) var all: Set<String> = []

  init(_ declarations: [Declaration], prefix: String) {
    var table = NameTable()
    // The shortest namespaces come first, and in each of them the names that stay as they are.
    let sorted = declarations.sorted {
      let (left, right) = (TypeNames.rank($0), TypeNames.rank($1))
      return left != right ? left.lexicographicallyPrecedes(right) : ($0.namespace, $0.name) < ($1.namespace, $1.name)
    }
    for declaration in sorted where names[declaration.qualifiedName] == nil {
      names[declaration.qualifiedName] = table.take(TypeNames.candidates(declaration, prefix: prefix))
    }
    all = Set(names.values)
  }

  /// The Swift name of a type by its qualified name; nil if the model does not declare it.
  subscript(qualifiedName: String) -> String? { names[qualifiedName] }

  private static func rank(_ declaration: Declaration) -> [Int] {
    let isExact = declaration.shortName == nil && SwiftIdentifier.type(declaration.name) == declaration.name
    return [declaration.namespace.utf8.count, isExact ? 0 : 1]
  }

  private static func candidates(_ declaration: Declaration, prefix: String) -> [String] {
    let space = SwiftIdentifier.wholeType(String(declaration.namespace.split(separator: ".").last ?? ""))
    let short = SwiftIdentifier.type(declaration.shortName ?? declaration.name)
    let whole = SwiftIdentifier.wholeType(declaration.name)
    let candidates = [short, whole, space + short, space + whole].map {
      let name = prefix + $0
      return SwiftKeywords.isReservedType(name) ? name + declaration.suffix : name
    }
    return candidates.filter { !SwiftKeywords.suffixedTypes.contains($0) }
  }
}
