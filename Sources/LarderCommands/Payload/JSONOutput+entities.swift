internal import LarderOData

// Writes entities, collections and deltas as JSON. Readers limit the depth of expansions.
extension JSONOutput {
  private mutating func write(_ entity: ODataEntity) throws(OutputError) {
    beginObject()
    try writeContent(entity)
    endObject()
    try drain()
  }

  mutating func writeContent(_ entity: ODataEntity) throws(OutputError) {
    member("context", entity.context)
    switch entity.removal {
    case .deleted: member("removed", "deleted")
    case .changed: member("removed", "changed")
    case .other(let reason): member("removed", reason ?? "")
    case nil: break
    }
    member("type", entity.typeName)
    member("id", entity.id)
    member("transient", entity.isTransient ? true : nil)
    member("etag", entity.etag)
    member("readLink", entity.readLink)
    member("editLink", entity.editLink)
    if let media = entity.media {
      name("media")
      try write(media)
    }
    let type = entity.typeName
    try member("properties", entity.properties, always: true) { (json, property) throws(OutputError) in
      try json.write(property, of: type)
    }
    try member("navigation", entity.navigationLinks) { (json, link) throws(OutputError) in try json.write(link) }
    try member("streams", entity.streams) { (json, stream) throws(OutputError) in
      json.beginObject()
      json.member("name", stream.name)
      json.name("media")
      try json.write(stream.link)
      json.endObject()
    }
    try writeOperations(entity.operations)
    try writeAnnotations(entity.annotations)
  }

  private mutating func write(_ media: ODataMediaLink) throws(OutputError) {
    beginObject()
    member("readLink", media.readLink)
    member("editLink", media.editLink)
    member("contentType", media.contentType)
    member("etag", media.etag)
    if let content = media.content {
      name("content")
      try write(content)
    }
    endObject()
  }

  private mutating func write(_ link: ODataNavigationLink) throws(OutputError) {
    beginObject()
    member("name", link.name)
    member("url", link.url)
    member("associationURL", link.associationURL)
    member("count", link.count)
    try member("bindings", link.bindings) { (json, binding) in json.string(binding) }
    switch link.content {
    case .null:
      name("entity")
      null()
    case .entity(let entity):
      name("entity")
      try write(entity)
    case .collection(let collection):
      name("collection")
      beginObject()
      try writeContent(collection)
      endObject()
    case .delta(let delta):
      name("delta")
      beginObject()
      try writeContent(delta)
      endObject()
    case nil: break
    }
    try writeAnnotations(link.annotations)
    endObject()
  }

  mutating func writeContent(_ collection: ODataEntityCollection) throws(OutputError) {
    member("context", collection.context)
    member("count", collection.count)
    member("nextLink", collection.nextLink)
    member("deltaLink", collection.deltaLink)
    member("readLink", collection.readLink)
    try member("entities", collection.entities, always: true) { (json, entity) throws(OutputError) in
      try json.write(entity)
    }
    try writeOperations(collection.operations)
    try writeAnnotations(collection.annotations)
  }

  mutating func writeContent(_ delta: ODataDelta) throws(OutputError) {
    member("context", delta.context)
    member("count", delta.count)
    member("nextLink", delta.nextLink)
    member("deltaLink", delta.deltaLink)
    try member("changes", delta.items, always: true) { (json, item) throws(OutputError) in
      json.beginObject()
      switch item {
      case .entity(let entity):
        json.member("change", "entity")
        try json.writeContent(entity)
      case .deletedEntity(let entity):
        json.member("change", "deletedEntity")
        try json.writeContent(entity)
      case .addedLink(let link):
        json.member("change", "addedLink")
        try json.writeContent(link)
      case .deletedLink(let link):
        json.member("change", "deletedLink")
        try json.writeContent(link)
      }
      json.endObject()
    }
    try writeAnnotations(delta.annotations)
  }

  private mutating func writeContent(_ link: ODataDeltaLink) throws(OutputError) {
    member("source", link.source)
    member("relationship", link.relationship)
    member("target", link.target)
    try writeAnnotations(link.annotations)
  }

  private mutating func writeOperations(_ operations: [ODataOperation]) throws(OutputError) {
    try member("operations", operations) { (json, operation) throws(OutputError) in
      json.beginObject()
      switch operation.kind {
      case .action: json.member("kind", "action")
      case .function: json.member("kind", "function")
      case .unknown: json.member("kind", "operation")
      }
      json.member("name", operation.name)
      json.member("title", operation.title)
      json.member("target", operation.target)
      json.member("available", operation.isAvailable)
      try json.writeAnnotations(operation.annotations)
      json.endObject()
    }
  }
}
