import LarderOData

/// A function that returns a collection's entities with a delta link: `users/delta()`, which Microsoft Graph has in
/// place of `Prefer: odata.track-changes`.
enum ChangesFunction {
  private static let name = "delta"

  /// Binds a URL that ends with the function, whose namespace may be omitted. Nil for a URL of another form.
  static func bind(_ text: String, _ binder: ODataBinder) -> ODataBoundURL? {
    let path = text.prefix { $0 != "?" }
    let plain = path.hasSuffix("()") ? path.dropLast(2) : path
    guard let slash = plain.lastIndex(of: "/") else { return nil }
    let last = plain[plain.index(after: slash)...]
    guard last == name || last.hasSuffix("." + name) else { return nil }
    let namespaces = binder.model.schemas.filter { $0.functions.contains { $0.name == name && $0.isBound } }
    let names = last == name ? namespaces.map { "\($0.namespace).\(name)" } : [String(last)]
    for name in names {
      let whole = String(plain[...slash]) + name + "()" + text[path.endIndex...]
      guard let url = try? ODataParser(binder.model.version).relativeURL(whole),
        let bound = try? binder.bind(url, text: whole), source(bound) != nil
      else { continue }
      return bound
    }
    return nil
  }

  /// The source of the entities that the function is called on. Nil if the last step is another one, or returns other
  /// entities.
  static func source(_ url: ODataBoundURL) -> ODataBoundSource? {
    guard case .path(let path) = url.resource, let last = path.segments.last,
      case .operation(let operation, let arguments) = last.kind, case .function = operation.declaration,
      arguments.isEmpty, let before = path.segments.dropLast().last, before.type?.isCollection == true,
      last.type?.isCollection == true, last.type?.item == before.type?.item
    else { return nil }
    return before.source
  }
}
