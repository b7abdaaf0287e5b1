// The state of an entity in an offline store, as functions of the entity: `sap.islocal()`, `sap.haspendingchanges()`,
// `sap.inerrorstate()`, `sap.upsertedlastdownload()`, `sap.entityexists(path)`, in upper or lower case. A function of
// the model with such a name takes precedence.
extension Binding {
  private static let states = [
    "sap.islocal": "sap.isLocal", "sap.haspendingchanges": "sap.hasPendingChanges",
    "sap.inerrorstate": "sap.inErrorState", "sap.upsertedlastdownload": "sap.upsertedLastDownload",
  ]

  /// Binds a function of an entity's state as a Boolean instance annotation of the entity; false if the name is none of
  /// these functions.
  func state(
    _ name: String, _ segments: [ODataPathSegment], _ walk: inout Walk, at position: SourcePosition
  ) -> Bool {
    guard name.utf8.count < 32, let term = Binding.states[name.lowercased()], let instance = walk.instance,
      !instance.type.isCollection, instance.type.structure?.isEntityType == true, walk.next < segments.count,
      case .arguments(let arguments) = segments[walk.next].kind, arguments.isEmpty
    else { return false }
    walk.next += 1
    walk.append(.annotation(term, qualifier: nil), Instance(.boolean), at: position)
    return true
  }

  /// Rewrites `sap.entityexists(path)` as `path ne null`; nil for other paths.
  func existence(_ path: ODataPath, at position: SourcePosition) -> ODataExpression? {
    guard path.segments.count >= 2, case .arguments(let arguments)? = path.segments.last?.kind, arguments.count == 1,
      arguments[0].name == nil, case .qualifiedName(let name) = path.segments[path.segments.count - 2].kind,
      name.utf8.count < 32, name.lowercased() == "sap.entityexists", case .path(var target) = arguments[0].value.kind,
      case .implicit = target.root, index.overloads(name).isEmpty
    else { return nil }
    target.root = path.root
    target.segments = path.segments.dropLast(2) + target.segments
    return ODataExpression(
      .binary(
        .notEqual, ODataExpression(.path(target), at: position), ODataExpression(.literal(.null), at: position)),
      at: position)
  }
}
