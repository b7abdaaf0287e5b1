import LarderHTTP
import LarderOData
import LarderOffline
import LarderService

// The steps that make changes in a store.
extension HistoryRun {
  /// Why requests may have left a store's queue.
  enum Cause { case nothing, upload, undo, discard }

  /// A change, not acknowledged yet.
  private func draft(
    _ store: StoreHand, _ operation: Change.Operation, _ set: String, _ target: Change.Target? = nil, offset: Int = 0
  ) -> Change {
    Change(number: changes.count + offset, store: store.name, operation: operation, set: set, target: target)
  }

  private func marked(_ request: ODataSingleRequest, _ change: Change) -> ODataSingleRequest {
    var request = request
    request.fields["Mark"] = change.mark
    request.customTag = change.mark
    return request
  }

  private func make(_ request: ODataSingleRequest, _ change: Change, _ store: StoreHand) async throws {
    note("    \(change.mark): \(change.operation) \(request.path)")
    let response = try await store.provider.execute(single: marked(request, change))
    changes.append(change)
    keepLocal(response, change, store)
  }

  /// Remembers the local path of what a change made.
  private func keepLocal(_ response: ODataSingleResponse, _ change: Change, _ store: StoreHand) {
    guard let location = response.fields[.location] else { return }
    let path = location.hasPrefix(ModelService.root) ? String(location.dropFirst(ModelService.root.count)) : location
    store.locals[ModelRequest.decoded(path)] = change.number
  }

  // MARK: What there is

  /// An entity as a store shows it.
  struct Shown {
    let path: String
    let target: Change.Target
    let entity: ODataEntity
  }

  func shown(_ set: String, _ store: StoreHand, expand: String? = nil) async throws -> [Shown] {
    let query = expand.map { "?$expand=\($0)" } ?? ""
    return try await store.provider.readEntitySet(set + query).entities.compactMap { shown($0, set, store) }
      .sorted { $0.path < $1.path }
  }

  private func shown(_ entity: ODataEntity, _ set: String, _ store: StoreHand) -> Shown? {
    guard let key = entity["ID"]?.plain else { return nil }
    let name = ModelService.Name(set, key)
    if let number = store.locals[name.description] {
      // Which entity it becomes is open.
      if changes[number].twin != nil { return nil }
      return Shown(path: name.description, target: .created(number), entity: entity)
    }
    guard !key.hasPrefix("-"), !key.hasPrefix("l") else { return nil }
    return Shown(path: name.description, target: .there(name), entity: entity)
  }

  /// Orders, and items where a query covers them.
  private func someEntity(_ store: StoreHand) async throws -> (set: String, shown: Shown)? {
    if chance(30) {
      if plan.kind.layout != .expanded, let item = one(try await shown("Items", store)) { return ("Items", item) }
    }
    return one(try await shown("Orders", store)).map { ("Orders", $0) }
  }

  // MARK: Creations

  private func text(_ change: Change) -> String {
    let letters = (0..<6).map { _ in String(Unicode.Scalar(UInt8(97 + roll(26)))) }.joined()
    return "m\(change.number)\(letters)"
  }

  private func key(_ change: Change) -> [ODataProperty] {
    plan.kind.givesKeys
      ? [] : [ODataProperty("ID", .int32(Int32(5000 + changes.count * 3 + Int(change.store.utf8.first ?? 0) * 1000)))]
  }

  func create(_ store: StoreHand) async throws {
    switch roll(10) {
    case 0 where plan.kind.hasPlaces: try await createPlace(store)
    case 9 where plan.kind.hasPlaces && plan.theme == .creations: try await createPlace(store)
    case 1 where plan.kind.hasLinks: try await createTag(store)
    case 2 where plan.kind.hasMedia: try await createPhoto(store)
    case 5... where plan.theme == .media: try await createPhoto(store)
    case 3, 4: try await createItem(store)
    default: try await createOrder(store)
    }
  }

  private func order(_ change: inout Change) -> ODataEntity {
    let text = text(change)
    change.texts = [text]
    var properties = key(change) + [ODataProperty("Name", .string(text)), ODataProperty("Stock", .int32(1))]
    if chance(plan.theme == .creations ? 85 : 60) {
      change.texts.append(self.text(change))
      properties.append(ODataProperty("Note", .string(change.texts[1])))
    }
    return ODataEntity(properties: properties)
  }

  private func createOrder(_ store: StoreHand) async throws {
    var change = draft(store, .create, "Orders")
    var entity = order(&change)
    if plan.kind.hasLinks, chance(50), let buyer = one(try await shown("Buyers", store)) {
      entity.navigationLinks = [link("Buyer", to: buyer.path)]
    }
    try await make(.create(entity, in: "Orders"), change, store)
  }

  private func link(_ name: String, to path: String) -> ODataNavigationLink {
    var link = ODataNavigationLink(name: name)
    link.bindings = [path]
    return link
  }

  /// Two orders with the same values; their buyers may be others.
  func twins(_ store: StoreHand) async throws {
    guard plan.kind.givesKeys else { return try await createOrder(store) }
    let first = changes.count
    var change = draft(store, .create, "Orders")
    var entity = order(&change)
    let buyers = plan.kind.hasLinks ? try await shown("Buyers", store) : []
    for twin in [first + 1, first] {
      change = Change(number: changes.count, store: store.name, operation: .create, set: "Orders", texts: change.texts)
      change.twin = twin
      entity.navigationLinks = []
      if chance(70), let buyer = one(buyers) { entity.navigationLinks = [link("Buyer", to: buyer.path)] }
      try await make(.create(entity, in: "Orders"), change, store)
    }
  }

  private func createItem(_ store: StoreHand) async throws {
    guard let order = one(try await shown("Orders", store)) else { return }
    var change = draft(store, .create, "Items")
    let text = text(change)
    change.texts = [text]
    change.reference = order.target
    var entity = ODataEntity(properties: key(change) + [ODataProperty("Text", .string(text))])
    guard plan.kind.layout != .expanded, chance(60) else {
      return try await make(.create(entity, in: "\(order.path)/Items"), change, store)
    }
    entity.navigationLinks = [link("Order", to: order.path)]
    try await make(.create(entity, in: "Items"), change, store)
  }

  private func createPlace(_ store: StoreHand) async throws {
    var change = draft(store, .create, "Places")
    let city = text(change)
    change.texts = [city]
    let place = ODataComplexValue(properties: [
      ODataProperty("City", .string(city)), ODataProperty("Street", .string("street")),
    ])
    let entity = ODataEntity(properties: key(change) + [ODataProperty("Where", .complex(place))])
    try await make(.create(entity, in: "Places"), change, store)
  }

  private func createTag(_ store: StoreHand) async throws {
    var change = draft(store, .create, "Tags")
    let text = text(change)
    change.texts = [text]
    let entity = ODataEntity(properties: [ODataProperty("ID", .string(text)), ODataProperty("Name", .string(text))])
    try await make(.create(entity, in: "Tags"), change, store)
  }

  /// A media entity from its values alone.
  private func createPhoto(_ store: StoreHand) async throws {
    var change = draft(store, .create, "Photos")
    let text = text(change)
    change.texts = [text]
    try await make(
      .create(ODataEntity(properties: [ODataProperty("Name", .string(text))]), in: "Photos"), change, store)
  }

  func createDeep(_ store: StoreHand) async throws {
    var change = draft(store, .createDeep, "Orders")
    var entity = order(&change)
    let items = (0...roll(2)).map { place in
      let text = "c\(place)\(text(change))"
      change.texts.append(text)
      change.childTexts.insert(text)
      var item = ODataEntity(properties: [ODataProperty("Text", .string(text))])
      guard !plan.kind.givesKeys else { return item }
      let key = 200_000 + changes.count * 10 + place
      item.properties.append(ODataProperty("ID", .int32(Int32(key))))
      change.keys.append(.init("Items", "\(key)"))
      return item
    }
    entity.navigationLinks = [
      ODataNavigationLink(name: "Items", content: .collection(ODataEntityCollection(entities: items)))
    ]
    try await make(.create(entity, in: "Orders"), change, store)
  }

  // MARK: Changes of entities

  private func update(_ shown: Shown, _ set: String, _ change: inout Change) -> ODataEntity {
    let slot = set == "Items" ? "Text" : one(["Name", "Note", "Stock"]) ?? "Name"
    change.seen[slot] = shown.entity[slot]?.plain ?? "null"
    guard slot != "Stock" else {
      return ODataEntity(properties: [ODataProperty(slot, .int32(Int32(10 + change.number)))])
    }
    return ODataEntity(properties: [ODataProperty(slot, .string(text(change)))])
  }

  func update(_ store: StoreHand) async throws {
    if plan.kind.hasLinks, chance(plan.theme == .updates ? 45 : 15) { return try await updateWithLink(store) }
    guard let (set, shown) = try await someEntity(store) else { return }
    var change = draft(store, .update, set, shown.target)
    let entity = update(shown, set, &change)
    guard chance(plan.theme == .updates ? 45 : 20), let property = entity.properties.first else {
      return try await make(.update(shown.path, to: entity), change, store)
    }
    let request = ODataSingleRequest(
      .update(.replace), "\(shown.path)/\(property.name)", body: .properties([property]))
    try await make(request, change, store)
  }

  /// An update that sets the link to a buyer, alone or with a property.
  private func updateWithLink(_ store: StoreHand) async throws {
    let showsLinks = plan.kind.showsLinks
    guard let order = one(try await shown("Orders", store, expand: showsLinks ? "Buyer" : nil)),
      let buyer = one(try await shown("Buyers", store))
    else { return }
    var change = draft(store, .update, "Orders", order.target)
    change.isOfLinkAlone = chance(80)
    var entity = change.isOfLinkAlone ? ODataEntity() : update(order, "Orders", &change)
    if showsLinks { change.seen["Buyer"] = buyerPath(order.entity) }
    entity.navigationLinks = [link("Buyer", to: buyer.path)]
    try await make(.update(order.path, to: entity), change, store)
  }

  func delete(_ store: StoreHand) async throws {
    guard let (set, shown) = try await someEntity(store) else { return }
    try await make(.delete(shown.path), draft(store, .delete, set, shown.target), store)
  }

  func link(_ store: StoreHand) async throws {
    let showsLinks = plan.kind.showsLinks
    guard let order = one(try await shown("Orders", store, expand: showsLinks ? "Buyer,Tags" : nil)) else { return }
    let isV2 = plan.kind.isV2
    func path(_ member: String) -> String {
      isV2 ? "\(order.path)/$links/\(member)" : "\(order.path)/\(member)/$ref"
    }
    switch roll(5) {
    case 0, 1:
      guard let buyer = one(try await shown("Buyers", store)) else { return }
      var change = draft(store, .link, "Orders", order.target)
      if showsLinks { change.seen["Buyer"] = buyerPath(order.entity) }
      try await make(.updateLink(path("Buyer"), to: buyer.path), change, store)
    case 2:
      var change = draft(store, .unlink, "Orders", order.target)
      if showsLinks { change.seen["Buyer"] = buyerPath(order.entity) }
      try await make(.deleteLink(path("Buyer")), change, store)
    case 3:
      guard let tag = one(try await shown("Tags", store)) else { return }
      try await make(.createLink(path("Tags"), to: tag.path), draft(store, .link, "Orders", order.target), store)
    default:
      guard let tag = one(order.entity.navigationLink("Tags")?.entities ?? []), let key = tag["ID"]?.plain else {
        return
      }
      let name = ModelService.Name("Tags", key).description
      try await make(.deleteLink(path(name)), draft(store, .unlink, "Orders", order.target), store)
    }
  }

  private func buyerPath(_ order: ODataEntity) -> String {
    order.navigationLink("Buyer")?.entity?["ID"].map { "Buyers(\($0.plain))" } ?? ""
  }

  // MARK: Media, actions

  func media(_ store: StoreHand) async throws {
    guard let photo = one(try await shown("Photos", store)) else { return }
    var change = draft(store, .media, "Photos", photo.target)
    change.seen["$value"] = photo.entity.media?.etag ?? ""
    let bytes = Array("bytes \(text(change))".utf8)
    try await make(.updateMedia("\(photo.path)/$value", to: .bytes(bytes, contentType: "image/x")), change, store)
  }

  func createMedia(_ store: StoreHand) async throws {
    let change = draft(store, .createMedia, "Photos")
    let bytes = Array("bytes \(text(change))".utf8)
    try await make(.createMedia(.bytes(bytes, contentType: "image/x"), in: "Photos"), change, store)
  }

  func action(_ store: StoreHand) async throws {
    let change = draft(store, .action, "Book")
    try await make(.invokeAction("Book", parameters: [ODataProperty("Text", .string(text(change)))]), change, store)
  }

  // MARK: Several at once

  func transaction(_ store: StoreHand) async throws {
    var all: [(request: ODataSingleRequest, change: Change)] = []
    let first = changes.count
    func add(_ request: ODataSingleRequest, _ change: Change) {
      var change = change
      change.transaction = first
      all.append((marked(request, change), change))
    }
    for _ in 0...(1 + roll(2)) {
      if chance(35) {
        var change = draft(store, .create, "Orders", offset: all.count)
        let entity = order(&change)
        if entity["ID"] == nil { add(.create(entity, in: "Orders"), change) }
      } else if let shown = one(try await shown("Orders", store)) {
        var change = draft(store, .update, "Orders", shown.target, offset: all.count)
        let entity = update(shown, "Orders", &change)
        add(.update(shown.path, to: entity), change)
      }
    }
    guard all.count > 1 else { return }
    note(
      "    transaction of "
        + all.map { "\($0.change.mark): \($0.change.operation) \($0.request.path)" }.joined(separator: ", "))
    let response = try await store.provider.execute(
      batch: ODataBatchRequest([.changeSet(all.map(\.request))]))
    guard case .changeSet(let responses)?? = response.slots.first else {
      if case .failure(let error)?? = response.slots.first { note("    rejected: \(error)") }
      return
    }
    for (response, (_, change)) in zip(responses, all) {
      changes.append(change)
      keepLocal(response, change, store)
    }
  }

  /// Changes of one property, scheduled at once: they take effect in the order of the calls, and a read after them sees
  /// the last.
  func burst(_ store: StoreHand) async throws {
    guard let shown = one(try await shown("Orders", store)) else { return }
    var requests: [ODataSingleRequest] = []
    for place in 0...(2 + roll(3)) {
      var change = draft(store, .update, "Orders", shown.target)
      change.seen["Stock"] = shown.entity["Stock"]?.plain ?? "null"
      scheduled.insert(change.number)
      changes.append(change)
      let entity = ODataEntity(properties: [ODataProperty("Stock", .int32(Int32(1000 + change.number)))])
      requests.append(marked(.update(shown.path, to: entity), change))
      note("    \(change.mark): scheduled \(place) \(shown.path)")
    }
    let last = "\(1000 + changes.count - 1)"
    let running = requests.map { store.provider.schedule(.single($0)) }
    let read = store.provider.schedule(.single(.read(shown.path)))
    for execution in running { _ = try await execution.finalResponse() }
    let seen = try await read.finalResponse()?.single?.payload(model: store.provider.model)
    let now = try await store.provider.readEntity(shown.path)?["Stock"]?.plain
    if now != last {
      find(.order, item: 4, "scheduled changes of \(shown.path) end with \(now ?? "nothing"), not \(last)")
    }
    if case .entity(let entity)? = seen, entity["Stock"]?.plain != last {
      find(.order, item: 4, "a read of \(shown.path) that was scheduled after changes does not see the last")
    }
  }
}
