import LarderOData

// Entities and values of any version and format as V4 JSON, from which Swift types are decoded.
extension JSONNode {
  /// An entity: its control information, its properties, and the related entities that it contains.
  init(_ entity: ODataEntity) {
    var members: [Member] = []
    members.add("@odata.type", entity.typeName.map { "#" + $0 })
    members.add("@odata.id", entity.id)
    members.add("@odata.etag", entity.etag)
    members.add("@odata.editLink", entity.editLink)
    members.add("@odata.readLink", entity.readLink)
    members.add("@odata.mediaReadLink", entity.media?.readLink)
    members.add("@odata.mediaContentType", entity.media?.contentType)
    members.add("@odata.mediaEtag", entity.media?.etag)
    members.add(entity.annotations, of: "")
    members.add(entity.properties)
    for link in entity.navigationLinks {
      members.add("\(link.name)@odata.navigationLink", link.url)
      if let count = link.count { members.append(Member("\(link.name)@odata.count", .number(String(count)))) }
      members.add(link.annotations, of: link.name)
      switch link.content {
      case nil, .delta: break
      case .null: members.append(Member(link.name, .null))
      case .entity(let entity): members.append(Member(link.name, JSONNode(entity)))
      case .collection(let collection):
        if let count = collection.count {
          members.append(Member("\(link.name)@odata.count", .number(String(count))))
        }
        members.add("\(link.name)@odata.nextLink", collection.nextLink)
        members.append(Member(link.name, .array(collection.entities.map { JSONNode($0) })))
      }
    }
    self = .object(members)
  }

  /// A value.
  init(_ value: ODataValue) {
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
      members.add("@odata.type", value.typeName.map { "#" + $0 })
      members.add(value.annotations, of: "")
      members.add(value.properties)
      self = .object(members)
    case .collection(let items): self = .array(items.map { JSONNode($0) })
    default: self = (try? value.text()).map { .string($0) } ?? .null
    }
  }
}

extension [JSONNode.Member] {
  fileprivate mutating func add(_ name: String, _ text: String?) {
    if let text { append(JSONNode.Member(name, .string(text))) }
  }

  /// Adds properties. The type of each is that of its value, unless the type of the object declares it.
  fileprivate mutating func add(_ properties: [ODataProperty]) {
    for property in properties {
      add("\(property.name)@odata.type", property.value.typeAnnotation)
      add(property.annotations, of: property.name)
      append(JSONNode.Member(property.name, JSONNode(property.value)))
    }
  }

  fileprivate mutating func add(_ annotations: [ODataAnnotation], of name: String) {
    for annotation in annotations { append(JSONNode.Member("\(name)@\(annotation.term)", JSONNode(annotation.value))) }
  }
}
