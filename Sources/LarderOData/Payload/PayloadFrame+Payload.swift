// The values of a complete frame.
extension PayloadFrame {
  /// Whether the rows contain a change that an ordinary collection cannot represent.
  var holdsChanges: Bool {
    items.contains { if case .entity = $0 { false } else { true } }
  }

  var collection: ODataEntityCollection {
    var collection = ODataEntityCollection(
      entities: items.compactMap { if case .entity(let entity) = $0 { entity } else { nil } },
      count: count, nextLink: nextLink, deltaLink: deltaLink, context: entity.context)
    collection.readLink = entity.readLink
    collection.operations = entity.operations
    collection.annotations = entity.annotations
    return collection
  }

  var delta: ODataDelta {
    var delta = ODataDelta(
      items: items, count: count, nextLink: nextLink, deltaLink: deltaLink, context: entity.context)
    delta.annotations = entity.annotations
    return delta
  }

  /// A complex value; the control information of an entity is kept as annotations.
  var complex: ODataComplexValue {
    var annotations = entity.annotations
    func keep(_ term: String, _ value: String?) {
      if let value { annotations.append(ODataAnnotation(term: "odata." + term, value: .string(value))) }
    }
    keep("id", entity.id)
    keep("etag", entity.etag)
    keep("editLink", entity.editLink)
    keep("readLink", entity.readLink)
    switch entity.removal {
    case .deleted?: keep("removed", "deleted")
    case .changed?: keep("removed", "changed")
    case .other(let reason)?: keep("removed", reason ?? "")
    case nil: break
    }
    return ODataComplexValue(typeName: entity.typeName, properties: entity.properties, annotations: annotations)
  }

  /// The frame as a payload of a kind.
  func payload(_ kind: PayloadKind) -> ODataPayload? {
    switch kind {
    case .entity: return entityPayload
    case .collection: return holdsChanges ? .delta(delta) : .collection(collection)
    case .delta: return .delta(delta)
    case .reference: return references.first.map(ODataPayload.reference)
    case .references:
      return .references(
        ODataReferenceCollection(
          references: references, count: count, nextLink: nextLink, context: entity.context,
          annotations: entity.annotations))
    case .serviceDocument:
      var document = ODataServiceDocument(elements: elements, context: entity.context)
      document.annotations = entity.annotations
      return .serviceDocument(document)
    case .error: return error.map(ODataPayload.error)
    case .property: return propertyPayload
    }
  }

  private var entityPayload: ODataPayload? {
    switch items.first {
    case .entity(let entity)?, .deletedEntity(let entity)?: .entity(entity)
    case .addedLink?, .deletedLink?: .delta(delta)
    case nil: nil
    }
  }

  private var propertyPayload: ODataPayload? {
    var payload: ODataPropertyPayload
    if let property = entity.properties.first {
      payload = ODataPropertyPayload(name: property.name, value: property.value)
      payload.annotations = property.annotations
    } else if let link = entity.navigationLinks.first {
      // The result of a function import under the function's name: an entity, entities, or a deferred link.
      switch link.content {
      case .entity(let entity)?: return .entity(entity)
      case .collection(let collection)?: return .collection(collection)
      case .delta(let delta)?: return .delta(delta)
      case .null?: payload = ODataPropertyPayload(name: link.name, value: .null)
      case nil: return .entity(entity)
      }
    } else if let stream = entity.streams.first {
      var entity = ODataEntity()
      entity.streams = [stream]
      return .entity(entity)
    } else if let value = values.first {
      payload = ODataPropertyPayload(value: value)
    } else if case .entity(let entity)? = items.first {
      return .entity(entity)
    } else {
      return nil
    }
    payload.context = entity.context
    payload.count = count
    payload.nextLink = nextLink
    payload.annotations += entity.annotations
    nameByContext(&payload)
    return .property(payload)
  }

  private func nameByContext(_ payload: inout ODataPropertyPayload) {
    payload.typeName = entity.typeName
    if case .complex(let complex) = payload.value, payload.typeName == nil { payload.typeName = complex.typeName }
    guard let text = payload.context else { return }
    let context = ContextURL(text)
    if let type = context.collectionOf {
      payload.typeName = payload.typeName ?? "Collection(\(type))"
    } else if context.path.count > 1, let last = context.path.last, !last.name.contains(".") {
      payload.name = payload.name ?? last.name
    } else if context.path.count == 1, let only = context.path.first, only.name.contains(".") {
      payload.typeName = payload.typeName ?? only.name
    }
  }
}

extension ODataNavigationLink {
  /// Sets the related entities; count and links that were reported before are kept.
  mutating func setContent(_ new: Content) {
    let previousContent = content
    content = new
    if case .collection(let previous)? = previousContent {
      if let count = previous.count { setCount(count) }
      if let next = previous.nextLink { setNextLink(next) }
      if let delta = previous.deltaLink { setDeltaLink(delta) }
      if let context = previous.context { setContext(context) }
    }
    if let count {
      setCount(count)
      if case .collection = content { self.count = nil }
    }
    for annotation in annotations { applyPending(annotation) }
    annotations.removeAll { PendingTerm(rawValue: $0.term) != nil }
  }

  /// The terms of annotations that keep a link or context until the entities are reported.
  private enum PendingTerm: String {
    case nextLink = "odata.nextLink", deltaLink = "odata.deltaLink", context = "odata.context"
  }

  private mutating func applyPending(_ annotation: ODataAnnotation) {
    guard let term = PendingTerm(rawValue: annotation.term), case .string(let text) = annotation.value else { return }
    switch term {
    case .nextLink: setNextLink(text)
    case .deltaLink: setDeltaLink(text)
    case .context: setContext(text)
    }
  }

  mutating func setCount(_ count: Int64) {
    switch content {
    case .collection(var collection)?:
      collection.count = count
      content = .collection(collection)
    case .delta(var delta)?:
      delta.count = count
      content = .delta(delta)
    default: self.count = count
    }
  }

  mutating func setNextLink(_ text: String) {
    switch content {
    case .collection(var collection)?:
      collection.nextLink = text
      content = .collection(collection)
    case .delta(var delta)?:
      delta.nextLink = text
      content = .delta(delta)
    default: keep(.nextLink, text)
    }
  }

  mutating func setDeltaLink(_ text: String) {
    switch content {
    case .collection(var collection)?:
      collection.deltaLink = text
      content = .collection(collection)
    case .delta(var delta)?:
      delta.deltaLink = text
      content = .delta(delta)
    default: keep(.deltaLink, text)
    }
  }

  mutating func setContext(_ text: String) {
    switch content {
    case .collection(var collection)?:
      collection.context = text
      content = .collection(collection)
    case .delta(var delta)?:
      delta.context = text
      content = .delta(delta)
    case .entity(var entity)? where entity.context == nil:
      entity.context = text
      content = .entity(entity)
    default: keep(.context, text)
    }
  }

  private mutating func keep(_ term: PendingTerm, _ text: String) {
    annotations.removeAll { $0.term == term.rawValue }
    annotations.append(ODataAnnotation(term: term.rawValue, value: .string(text)))
  }
}

extension ODataNavigationLink.Content {
  /// The related entities as plain values.
  var asValue: ODataValue {
    switch self {
    case .null: .null
    case .entity(let entity): .complex(ODataComplexValue(entity))
    case .collection(let collection): .collection(collection.entities.map { .complex(ODataComplexValue($0)) })
    case .delta(let delta): delta.asValue
    }
  }
}

extension ODataDelta {
  /// The added, changed and removed entities as plain values.
  var asValue: ODataValue {
    .collection(
      items.compactMap {
        switch $0 {
        case .entity(let entity), .deletedEntity(let entity): .complex(ODataComplexValue(entity))
        case .addedLink, .deletedLink: nil
        }
      })
  }
}
