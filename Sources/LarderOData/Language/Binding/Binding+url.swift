// URLs: first the path, then the options on the resource that it identifies (URL Conventions 4.01 §4).
extension Binding {
  func bind(_ url: ODataURL) throws(ODataBindingError) -> ODataBoundURL {
    custom = url.options.custom
    switch url.resource {
    case .service, .batch, .metadata:
      if case .metadata(let fragment?) = url.resource { try check(fragment) }
      try allow([], url.options, on: name(of: url.resource), at: .none)
      let options = try content(url.options, on: nil)
      return ODataBoundURL(serviceRoot: url.serviceRoot, resource: simple(url.resource), options: options)
    case .entity(let name):
      var structure: EdmStructure?
      if let name { structure = try entityType(name) }
      let type = structure.map { ODataBoundType.Item.structure($0) } ?? .abstract(.entityType)
      try allow([.id, .select, .expand, .compute], url.options, on: "$entity", at: .none)
      let options = try top(url.options, on: Instance(ODataBoundType(type)))
      return ODataBoundURL(serviceRoot: url.serviceRoot, resource: .entity(structure), options: options)
    case .path(let path): return try bind(path, url)
    }
  }

  private func simple(_ resource: ODataResource) -> ODataBoundResource {
    switch resource {
    case .batch: .batch
    case .metadata(let fragment): .metadata(fragment)
    default: .service
    }
  }

  private func name(of resource: ODataResource) -> String {
    switch resource {
    case .batch: "$batch"
    case .metadata: "$metadata"
    default: "the service document"
    }
  }

  private func entityType(_ name: String) throws(ODataBindingError) -> EdmStructure {
    guard let structure = index.structure(name), structure.isEntityType else {
      let names = index.types.filter { $0.value.structure?.isEntityType == true }.keys
      throw unknown(name, what: "entity type", place: "in the model", among: names, at: .none)
    }
    return structure
  }

  private func bind(_ path: ODataPath, _ url: ODataURL) throws(ODataBindingError) -> ODataBoundURL {
    guard path.root == .implicit || path.root == .root else {
      throw error(.notSupported("a URL must start at the service's root"), at: path.position)
    }
    var walk = Walk(.resource, root: .implicit, nil)
    try first(path.segments, &walk)
    try finish(&walk, path.segments)
    let last = walk.path.lastKind
    let owner = walk.owner ?? walk.instance
    try allow(allowed(on: walk, last), url.options, on: describe(walk, last), at: .none)
    let options = try top(url.options, on: owner)
    return ODataBoundURL(serviceRoot: url.serviceRoot, resource: .path(walk.path), options: options)
  }

  /// Binds `$crossjoin` and `$all`.
  private func first(_ segments: [ODataPathSegment], _ walk: inout Walk) throws(ODataBindingError) {
    guard let segment = segments.first else { return }
    switch segment.kind {
    case .allEntities:
      walk.next = 1
      let type = ODataBoundType(.abstract(.entityType), isCollection: true)
      walk.append(.allEntities, Instance(type), at: segment.position)
    case .crossjoin(let names):
      walk.next = 1
      var sources: [ODataNavigationSource] = []
      var distinctSources: Set<ODataNavigationSource> = []
      for name in names {
        guard let source = index.source(name), source.entitySet != nil else {
          let sets = index.roots.filter {
            if case .source(let source, _) = $0.value { source.entitySet != nil } else { false }
          }
          throw unknown(name, what: "entity set", place: "in the service", among: sets.keys, at: segment.position)
        }
        guard distinctSources.insert(source).inserted else {
          throw error(.duplicate("'\(name)'"), at: segment.position)
        }
        sources.append(source)
      }
      let members = sources.map {
        ODataBoundShape.Member(name: $0.name, type: ODataBoundType(.structure($0.type)), isComputed: true)
      }
      let shape = ODataBoundShape(base: nil, members: members, isClosed: true)
      walk.append(
        .crossjoin(sources), Instance(ODataBoundType(.shape(shape), isCollection: true)), at: segment.position)
    default: return
    }
  }

  private func top(
    _ options: ODataQueryOptions, on instance: Instance?
  ) throws(ODataBindingError) -> ODataBoundOptions {
    it = instance?.single
    return try content(options, on: instance)
  }

  // MARK: The options that a resource allows

  private func allowed(on walk: Walk, _ last: ODataBoundSegment.Kind?) -> OptionKinds {
    switch last {
    case .count: return dialect == .v2 ? [.filter, .search, .orderBy, .skip, .top] : [.filter, .search, .apply]
    case .value: return []
    case .ref:
      return walk.instance?.type.isCollection == true
        ? [.filter, .search, .orderBy, .skip, .top, .count, .id] : [.id]
    default: return allowed(on: walk.instance?.type)
    }
  }

  private func describe(_ walk: Walk, _ last: ODataBoundSegment.Kind?) -> String {
    switch last {
    case .count: "$count"
    case .value: "$value"
    case .ref: "$ref"
    default: walk.instance.map { "\($0.type)" } ?? "an operation without a result"
    }
  }
}
