internal import LarderOData
internal import LarderService

/// `--allow NAME`: properties that are queued although the metadata marks them as set by the service.
enum AllowOption {
  /// The names of `--allow`. Throws if one of the names is not a property of any created entity.
  static func names(
    _ arguments: ParsedArguments, among requests: [ODataSingleRequest]
  ) throws(UsageError) -> Set<String> {
    let names = arguments.values(.allowedProperty)
    let unused = names.first { name in
      let path = name.split(separator: "/")
      return !requests.contains { request in
        switch request.body {
        case .entity(let entity) where request.operation == .create: has(path[...], entity)
        case .properties(let properties) where request.operation == .create: has(path[...], properties)
        default: false
        }
      }
    }
    if let unused { throw arguments.usage("--allow \(unused): no created entity has this property") }
    return Set(names)
  }

  private static func has(_ path: ArraySlice<Substring>, _ entity: ODataEntity) -> Bool {
    if has(path, entity.properties) { return true }
    return entity.navigationLinks.contains { link in
      switch link.content {
      case .entity(let entity)?: has(path, entity)
      case .collection(let collection)?: collection.entities.contains { has(path, $0) }
      default: false
      }
    }
  }

  private static func has(_ path: ArraySlice<Substring>, _ properties: [ODataProperty]) -> Bool {
    guard let name = path.first, let property = properties.first(where: { $0.name == name }) else { return false }
    if path.count == 1 { return true }
    guard case .complex(let complex) = property.value else { return false }
    return has(path.dropFirst(), complex.properties)
  }
}

extension OptionSyntax {
  static let allowedProperty = OptionSyntax(
    "--allow", valueName: "NAME", .text, isRepeatable: true,
    "queue the property NAME of created entities although the metadata mark it as the service's own")
}
