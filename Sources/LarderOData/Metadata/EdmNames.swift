/// The namespaces and aliases of a document: converts alias-qualified names to namespace-qualified ones.
struct EdmNames: Sendable {
  /// The namespaces by alias: of schemas, of includes, of V1 to V3 `Using`.
  private var namespaces: [String: String] = [:]
  /// The namespaces that the document includes from other documents.
  private var included: Set<String> = []
  private var declared: Set<String> = []

  init(schemas: [EdmSchema], references: [EdmReference]) {
    let usings = schemas.flatMap(\.usings)
    for include in references.flatMap(\.includes) + usings {
      included.insert(include.namespace)
      if let alias = include.alias { namespaces[alias] = include.namespace }
    }
    for schema in schemas {
      declared.insert(schema.namespace)
      if let alias = schema.alias { namespaces[alias] = schema.namespace }
    }
    for namespace in declared.union(included) { namespaces[namespace] = nil }
  }

  var hasAliases: Bool { !namespaces.isEmpty }

  /// Whether the namespace of the name is that of another document.
  func isExternal(_ name: String) -> Bool {
    guard let dot = name.utf8.lastIndex(of: 0x2E) else { return false }
    let namespace = String(name[..<dot])
    return namespace == "Edm" || included.contains(namespace) && !declared.contains(namespace)
  }

  /// Converts `Alias.Name` to `Namespace.Name`; any other name is returned unchanged.
  func resolve(_ name: String) -> String {
    guard hasAliases, let dot = name.utf8.lastIndex(of: 0x2E), let namespace = namespaces[String(name[..<dot])]
    else { return name }
    return namespace + name[dot...]
  }

  /// Resolves every qualified name of an annotation target: `A.Type/Property`, `A.Action(A.Type)/Parameter`.
  func resolve(target: String) -> String {
    guard hasAliases else { return target }
    let bytes = target.utf8
    guard bytes.contains(where: EdmNames.isSeparator) else { return resolve(target) }
    var resolved = ""
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(where: EdmNames.isSeparator) {
      let next = bytes.index(after: end)
      resolved += resolve(String(target[start..<end]))
      resolved += target[end..<next]
      start = next
    }
    return resolved + resolve(String(target[start...]))
  }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: " "),
      UInt8(ascii: "@"):
      true
    default: false
    }
  }

  func resolve(_ type: EdmTypeReference) -> EdmTypeReference {
    switch type {
    case .named(let name): .named(resolve(name))
    case .collection(let item): .collection(resolve(item))
    case .primitive, .abstract: type
    }
  }
}

// Annotations: terms, record types, cast types, enumeration members. Paths stay as written.
extension EdmNames {
  func resolve(_ annotations: inout [EdmAnnotation]) {
    guard hasAliases else { return }
    for place in annotations.indices {
      annotations[place].term = resolve(annotations[place].term)
      if let value = annotations[place].expression { annotations[place].expression = resolve(value) }
      resolve(&annotations[place].annotations)
    }
  }

  func resolve(_ includes: inout [EdmInclude]) {
    for place in includes.indices { resolve(&includes[place].annotations) }
  }

  /// Resolves the annotations of references and of their includes.
  func resolve(_ references: inout [EdmReference]) {
    for place in references.indices {
      resolve(&references[place].annotations)
      resolve(&references[place].includes)
    }
  }

  private func resolve(_ expressions: [EdmExpression]) -> [EdmExpression] { expressions.map { resolve($0) } }

  private func resolve(_ expression: EdmExpression) -> EdmExpression {
    switch expression {
    case .constant(.enumMember, let text): return .constant(.enumMember, resolve(target: text))
    case .constant, .null, .path, .labeledElementReference, .unknown: return expression
    case .operation(let operation, let operands): return .operation(operation, resolve(operands))
    case .apply(let function, let arguments): return .apply(function: function, resolve(arguments))
    case .cast(let type, let facets, let value): return .cast(resolve(type), facets, value.map { resolve($0) })
    case .isOf(let type, let facets, let value): return .isOf(resolve(type), facets, value.map { resolve($0) })
    case .collection(let items): return .collection(resolve(items))
    case .conditional(let parts): return .conditional(resolve(parts))
    case .labeledElement(let name, let value): return .labeledElement(name: name, value.map { resolve($0) })
    case .urlRef(let value): return .urlRef(value.map { resolve($0) })
    case .annotated(let value, var annotations):
      resolve(&annotations)
      return .annotated(resolve(value), annotations)
    case .record(let type, var values):
      for place in values.indices {
        if let value = values[place].value { values[place].value = resolve(value) }
        resolve(&values[place].annotations)
      }
      return .record(type: type.map { resolve($0) }, values)
    }
  }
}
