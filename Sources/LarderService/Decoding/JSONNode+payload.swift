import LarderOData

// Entities and values of any version and format as V4 JSON, from which Swift types are decoded.
extension JSONNode {
  /// An entity: its control information, its properties, and the related entities that it contains.
  init(_ entity: ODataEntity, _ model: EdmModel?) {
    var members: [Member] = []
    members.addType(entity.typeName, model)
    members.add("@odata.id", entity.id)
    members.add("@odata.etag", entity.etag)
    members.add("@odata.editLink", entity.editLink)
    members.add("@odata.readLink", entity.readLink)
    members.add("@odata.mediaReadLink", entity.media?.readLink)
    members.add("@odata.mediaContentType", entity.media?.contentType)
    members.add("@odata.mediaEtag", entity.media?.etag)
    members.add(entity.annotations, of: "", model)
    members.add(entity.properties, model)
    for link in entity.navigationLinks {
      members.add("\(link.name)@odata.navigationLink", link.url)
      if let count = link.count { members.append(Member("\(link.name)@odata.count", .number(String(count)))) }
      members.add(link.annotations, of: link.name, model)
      switch link.content {
      case nil, .delta: break
      case .null: members.append(Member(link.name, .null))
      case .entity(let entity): members.append(Member(link.name, JSONNode(entity, model)))
      case .collection(let collection):
        if let count = collection.count {
          members.append(Member("\(link.name)@odata.count", .number(String(count))))
        }
        members.add("\(link.name)@odata.nextLink", collection.nextLink)
        members.append(Member(link.name, .array(collection.entities.map { JSONNode($0, model) })))
      }
    }
    self = .object(members)
  }

  /// A value.
  init(_ value: ODataValue, _ model: EdmModel?) {
    switch value {
    case .null: self = .null
    case .boolean(let flag): self = .boolean(flag)
    case .byte(let number): self = .number(String(number))
    case .sbyte(let number): self = .number(String(number))
    case .int16(let number): self = .number(String(number))
    case .int32(let number): self = .number(String(number))
    case .int64(let number): self = .number(String(number))
    case .decimal(let number), .untypedNumber(let number):
      self = number.isFinite ? .number(number.description) : .string(number.description)
    case .single(let number) where number.isFinite: self = .number(number.description)
    case .double(let number) where number.isFinite: self = .number(number.description)
    case .string(let text), .enumeration(let text): self = .string(text)
    case .geo(let geo): self = (try? geo.geoJSON()) ?? .null
    case .complex(let value):
      var members: [Member] = []
      members.addType(value.typeName, model)
      members.add(value.annotations, of: "", model)
      members.add(value.properties, model)
      self = .object(members)
    case .collection(let items): self = .array(items.map { JSONNode($0, model) })
    default: self = (try? value.text()).map { .string($0) } ?? .null
    }
  }
}

extension [JSONNode.Member] {
  /// Adds the name of a type, which the payload may qualify by the alias of its schema.
  fileprivate mutating func addType(_ name: String?, _ model: EdmModel?) {
    add("@odata.type", name.map { "#" + (model?.resolve($0) ?? $0) })
  }

  fileprivate mutating func add(_ name: String, _ text: String?) {
    if let text { append(JSONNode.Member(name, .string(text))) }
  }

  /// Adds properties. The type of each is that of its value, unless the type of the object declares it.
  fileprivate mutating func add(_ properties: [ODataProperty], _ model: EdmModel?) {
    for property in properties {
      add("\(property.name)@odata.type", property.value.typeAnnotation)
      add(property.annotations, of: property.name, model)
      append(JSONNode.Member(property.name, JSONNode(property.value, model)))
    }
  }

  fileprivate mutating func add(_ annotations: [ODataAnnotation], of name: String, _ model: EdmModel?) {
    for annotation in annotations {
      append(JSONNode.Member("\(name)@\(annotation.term)", JSONNode(annotation.value, model)))
    }
  }
}
