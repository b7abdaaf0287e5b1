import LarderOData

// URLs, resource paths, context fragments.
extension TreeGenerator {
  mutating func url() -> ODataURL {
    let root = maybe(3) { $0.random.pick(["https://host/service/", "http://h:8080/a/b.svc/", "https://[::1]/x/"]) }
    var options = ODataQueryOptions()
    switch random.below(isV4 ? 8 : 3) {
    case 1: return ODataURL(serviceRoot: root, .service)
    case 2:
      options.format = maybe(2) { _ in "xml" }
      return ODataURL(serviceRoot: root, .metadata(isV4 ? maybe(2) { $0.contextFragment() } : nil), options: options)
    case 3: return ODataURL(serviceRoot: root, .batch)
    case 4:
      options.id = text(1...5)
      let type = maybe(2) { $0.qualifiedName() }
      if type != nil { options.select = maybe(2) { $0.selectItems() } ?? [] }
      return ODataURL(serviceRoot: root, .entity(castTo: type), options: options)
    default:
      return ODataURL(serviceRoot: root, .path(resourcePath()), options: random.once(in: 2) ? options : queryOptions())
    }
  }

  mutating func resourcePath() -> ODataPath {
    if isV4, random.once(in: 8) { return ODataPath([ODataPathSegment(.crossjoin(several(1...3) { $0.name() }))]) }
    if isV4, random.once(in: 8) {
      let type = maybe(2) { ODataPathSegment(.qualifiedName($0.qualifiedName())) }
      return ODataPath([ODataPathSegment(.allEntities)] + (type.map { [$0] } ?? []))
    }
    var segments = [ODataPathSegment(.name(name()))]
    for _ in 0..<random.below(3) {
      let isBehindText = segments.last?.isText ?? false
      if !isBehindText {
        if random.once(in: 2) {
          segments.append(resourceKey())
        } else if isV4, random.once(in: 4) {
          segments += filterStep()
        }
      }
      if isV4, random.once(in: 5) { segments.append(ODataPathSegment(.qualifiedName(qualifiedName()))) }
      segments.append(ODataPathSegment(.name(name())))
      if isV4, random.once(in: 6) {
        segments.append(ODataPathSegment(.text(random.pick(["1", "-5", "2012-01-01", "1/2 %ä", "0'#?"]))))
      }
    }
    return ODataPath(segments + lastStep(behind: segments.last))
  }

  private mutating func filterStep() -> [ODataPathSegment] {
    [ODataPathSegment(.filter(depth > 0 ? deeper { $0.expression() } : literal()))]
  }

  private mutating func lastStep(behind last: ODataPathSegment?) -> [ODataPathSegment] {
    let isBehindKey = last?.isText ?? false
    switch random.below(10) {
    case 0 where !isBehindKey: return [ODataPathSegment(.count(nil))]
    case 1: return [ODataPathSegment(.value)]
    case 2 where isV4: return [ODataPathSegment(.ref)]
    case 3 where isV4 && !isBehindKey:
      return [ODataPathSegment(.each), ODataPathSegment(.qualifiedName(qualifiedName()))]
    case 4 where isV4: return [ODataPathSegment(.query)]
    case 5 where !isV4: return [ODataPathSegment(.links), ODataPathSegment(.name(name()))]
    case 6 where isV4: return [ODataPathSegment(.qualifiedName(qualifiedName())), parametersOfPath()]
    case 7 where isV4 && !isBehindKey: return filterStep()
    case 8 where !isBehindKey: return [resourceKey()]
    default: return []
    }
  }

  private mutating func resourceKey() -> ODataPathSegment {
    if random.once(in: 2) { return ODataPathSegment(.arguments([ODataArgument(value: keyValue())])) }
    return ODataPathSegment(.arguments(several(1...2) { ODataArgument(name: $0.name(), value: $0.keyValue()) }))
  }

  private mutating func parametersOfPath() -> ODataPathSegment {
    ODataPathSegment(.arguments(several(0...2) { ODataArgument(name: $0.name(), value: $0.keyValue()) }))
  }

  mutating func contextFragment() -> ODataContextFragment {
    switch random.below(8) {
    case 0: return ODataContextFragment(path: ODataPath([]), item: "$ref")
    case 1:
      return ODataContextFragment(
        path: ODataPath([]), collectionOf: random.pick(["$ref", "Edm.EntityType", "Edm.String"]))
    case 2:
      return ODataContextFragment(
        path: ODataPath([ODataPathSegment(.qualifiedName(qualifiedName()))]), selectList: maybe(2) { $0.selectList() })
    default: break
    }
    var segments = [ODataPathSegment(.name(random.pick(["Customers", "Größen", "eq"])))]
    for _ in 0..<random.below(3) {
      if random.once(in: 2) { segments.append(resourceKey()) }
      if random.once(in: 4) { segments.append(ODataPathSegment(.qualifiedName(qualifiedName()))) }
      segments.append(ODataPathSegment(.name(name())))
    }
    var fragment = ODataContextFragment(path: ODataPath(segments))
    if random.once(in: 2) { fragment.selectList = selectList() }
    fragment.item = maybe(2) { $0.random.pick(["$entity", "$delta"]) }
    if fragment.selectList == nil, random.once(in: 4) {
      fragment.item = random.pick(["$deletedEntity", "$link", "$deletedLink"])
    }
    return fragment
  }

  private mutating func selectList() -> [ODataSelectListItem] {
    several(0...3) { generator in
      var item = ODataSelectListItem(path: ODataPath(generator.listPath()))
      switch generator.random.below(6) {
      case 0: item.path = ODataPath([ODataPathSegment(.star)])
      case 1: item.path = ODataPath([ODataPathSegment(.allOperations("Ns"))])
      case 2:
        let term = ODataPathSegment(
          .annotation(term: generator.qualifiedName(), qualifier: generator.maybe(2) { $0.name() }))
        item.path = ODataPath([term])
      case 3:
        item.isExpanded = generator.random.once(in: 2)
        if generator.depth > 0 { item.nested = generator.deeper { $0.selectList() } }
      default: break
      }
      return item
    }
  }
}

extension ODataPathSegment {
  fileprivate var isText: Bool { if case .text = kind { true } else { false } }
}
