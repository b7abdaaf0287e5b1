import LarderOData
import LarderOffline
import LarderService

// Whether a store has the rows that its defining queries return, and nothing else.
extension HistoryRun {
  /// Entities that changes of a store are about, of which its rows may differ.
  private func busy(_ store: StoreHand) -> (names: Set<ModelService.Name>, hasDeletions: Bool) {
    var names: Set<ModelService.Name> = []
    var hasDeletions = false
    let service = model.service
    for change in changes where change.store == store.name && change.isWaiting {
      if change.operation == .delete { hasDeletions = true }
      if let name = name(of: change.target, service) { names.insert(name) }
      if let name = name(of: change.reference, service) { names.insert(name) }
      names.formUnion(change.keys)
      for effect in service.effects where effect.mark == change.mark {
        names.insert(effect.entity)
        names.formUnion(effect.children)
      }
      if change.operation == .create || change.operation == .createDeep || change.operation == .createMedia {
        names.formUnion(store.locals.filter { $0.value == change.number }.compactMap { service.name(at: $0.key, [:]) })
      }
    }
    for item in service.everKnown.union(service.entities.keys) where item.set == "Items" {
      if let order = service.entities[item]?.values["Order_ID"]?.text, names.contains(.init("Orders", order)) {
        names.insert(item)
      }
    }
    return (names, hasDeletions)
  }

  /// The entity that a change is about; nil where it is not made yet.
  func name(of target: Change.Target?, _ service: ModelService) -> ModelService.Name? {
    switch target {
    case .there(let name)?: name
    case .created(let number)?:
      service.effects.first { effect in
        effect.kind == .create
          && changes.contains { ($0.number == number || $0.mends == number) && $0.mark == effect.mark }
      }?.entity
    case nil: nil
    }
  }

  /// Compares a store that has downloaded with the service.
  func checkRows(_ store: StoreHand, _ fault: Fault?) async {
    do {
      let service = model.service
      let found = try await rows(of: store)
      let wanted = rows(of: service)
      let (busy, hasDeletions) = busy(store)
      let isQuiet = busy.isEmpty && !hasDeletions
      for (name, text) in wanted.sorted(by: { $0.key < $1.key }) where !busy.contains(name) {
        guard let row = found[name] else {
          if hasDeletions, name.set == "Items" { continue }
          find(.missing, item: itemOfMissing(name, store, fault), "\(name) at \(store.name) after a download")
          continue
        }
        // Links of one entity change with others: they are compared where nothing is pending.
        let isSame = isQuiet ? row == text : row.values == text.values
        if !isSame {
          let isLeftOver = row.values == text.values && plan.kind.layout != .apart && plan.kind.deltas == .expanded
          find(
            .different, item: isLeftOver ? 3 : sawForeign.contains(store.name) ? 14 : nil,
            "\(name) at \(store.name): \(row), the service has \(text)")
        }
      }
      for name in found.keys.sorted() where wanted[name] == nil && !busy.contains(name) && !name.key.hasPrefix("-") {
        if store.locals[name.description] != nil, !isQuiet { continue }
        find(.leftOver, item: itemOfLeftOver(name), "\(name) at \(store.name) after a download")
      }
    } catch { find(.failed, item: nil, "reading \(store.name) after a download: \(error)") }
  }

  private func itemOfMissing(_ name: ModelService.Name, _ store: StoreHand, _ fault: Fault?) -> Int? {
    if name.set == "Setting" { return plan.kind.namesTypeInContext ? 15 : nil }
    return sawForeign.contains(store.name) ? 14 : nil
  }

  private func itemOfLeftOver(_ name: ModelService.Name) -> Int? {
    name.set == "Items" && plan.kind.layout != .apart ? 3 : nil
  }

  // MARK: Rows

  /// A row as it is compared.
  struct Row: Hashable, CustomStringConvertible {
    var values: String
    var links = ""

    var description: String { links.isEmpty ? values : "\(values) \(links)" }
  }

  private var sets: [String] {
    let kind = plan.kind
    return ["Orders", "Items"] + (kind.hasLinks ? ["Buyers", "Tags"] : []) + (kind.hasMedia ? ["Photos"] : [])
      + (kind.hasPlaces ? ["Places"] : []) + (kind.hasSingleton ? ["Setting"] : [])
  }

  /// What the stores' defining queries return.
  private func rows(of service: ModelService) -> [ModelService.Name: Row] {
    let sets = sets
    var rows: [ModelService.Name: Row] = [:]
    for (name, entity) in service.entities where sets.contains(name.set) {
      let schema = ModelSchema.set(name.set)
      let properties =
        ["ID"] + (schema?.texts ?? []) + (schema?.numbers ?? []) + (name.set == "Places" ? ["Where"] : [])
      var row = Row(values: text(properties) { (entity.values[$0] ?? .null).rowText })
      if name.set == "Orders" { row.links = links(name, service) }
      if name.set == "Items", plan.kind.layout == .expanded,
        entity.values["Order_ID"]?.text.map({ service.entities[.init("Orders", $0)] == nil }) ?? true
      {
        continue
      }
      rows[name] = row
    }
    return rows
  }

  private func text(_ properties: [String], _ value: (String) -> String) -> String {
    properties.map { "\($0)=\(value($0))" }.joined(separator: " ")
  }

  private func links(_ name: ModelService.Name, _ service: ModelService) -> String {
    (plan.kind.showsLinks ? ["Items", "Buyer", "Tags"] : ["Items"]).map { member in
      let navigation = ModelSchema.set("Orders")?.navigation(member)
      let keys = navigation.map { service.targets(of: name, $0).map(\.key).sorted() } ?? []
      return "\(member):\(keys.joined(separator: ","))"
    }.joined(separator: " ")
  }

  private func rows(of store: StoreHand) async throws -> [ModelService.Name: Row] {
    var rows: [ModelService.Name: Row] = [:]
    func take(_ set: String, _ entity: ODataEntity) {
      guard let schema = ModelSchema.set(set) else { return }
      let properties = ["ID"] + schema.texts + schema.numbers + (set == "Places" ? ["Where"] : [])
      var row = Row(values: text(properties) { entity[$0]?.plain ?? "null" })
      if set == "Orders" { row.links = links(entity) }
      let key = set == "Setting" ? "" : entity["ID"]?.plain ?? ""
      rows[.init(set, key)] = row
    }
    for set in sets where set != "Setting" {
      guard set != "Orders" else {
        let expand = plan.kind.showsLinks ? "Items,Buyer,Tags" : "Items"
        for order in try await store.provider.readEntitySet("Orders?$expand=\(expand)").entities {
          take(set, order)
          guard plan.kind.layout == .expanded else { continue }
          for item in order.navigationLink("Items")?.entities ?? [] { take("Items", item) }
        }
        continue
      }
      if set == "Items", plan.kind.layout == .expanded { continue }
      for entity in try await store.provider.readEntitySet(set).entities { take(set, entity) }
    }
    if sets.contains("Setting"), let setting = try? await store.provider.readEntity("Setting") {
      take("Setting", setting)
    }
    return rows
  }

  private func links(_ order: ODataEntity) -> String {
    (plan.kind.showsLinks ? ["Items", "Buyer", "Tags"] : ["Items"]).map { member in
      let link = order.navigationLink(member)
      let keys = (link?.entities ?? link?.entity.map { [$0] } ?? []).compactMap { $0["ID"]?.plain }.sorted()
      return "\(member):\(keys.joined(separator: ","))"
    }.joined(separator: " ")
  }

  // MARK: A fresh store

  /// Compares the rows that no question of a defining query shows: by key, with a store that has downloaded once.
  func compareWithFresh() async {
    guard plan.kind.layout == .expanded else { return }
    do {
      let fresh = try StoreHand("F", model, seed: plan.seed)
      try await fresh.open()
      for name in model.service.everKnown.sorted() where name.set == "Items" {
        let isFresh = await isThere(name, fresh)
        for store in stores where await isThere(name, store) != isFresh {
          let rule: Finding.Rule = isFresh ? .missing : .leftOver
          find(rule, item: isFresh ? nil : 3, "\(name) by its key at \(store.name), compared with a fresh store")
        }
      }
      try await fresh.provider.close()
    } catch { find(.failed, item: nil, "a fresh store: \(error)") }
  }

  private func isThere(_ name: ModelService.Name, _ store: StoreHand) async -> Bool {
    (try? await store.provider.readEntity(name.description)) != nil
  }

  // MARK: Deep inserts

  /// What deep inserts have made is there after their upload, before any download.
  func checkUploaded(_ store: StoreHand) async {
    let service = model.service
    let hasDeletions = changes.contains {
      $0.store == store.name && $0.operation == .delete && $0.outcome != .discarded
    }
    guard !hasDeletions else { return }
    for change in changes where change.store == store.name && change.operation == .createDeep && change.outcome == .sent
    {
      // Given up for the service's version, which the next download brings whole.
      if change.policies.contains("server") { continue }
      guard let effect = service.effects.first(where: { $0.mark == change.mark && $0.kind == .create }),
        service.entities[effect.entity] != nil
      else { continue }
      let wanted = effect.children.filter { service.entities[$0]?.values["Order_ID"]?.text == effect.entity.key }
      let order = try? await store.provider.readEntity("\(effect.entity)?$expand=Items")
      let found = order?.navigationLink("Items")?.entities?.count ?? 0
      if found < wanted.count {
        find(
          .childrenGone, item: 11,
          "\(effect.entity) has \(found) of \(wanted.count) items at \(store.name) after the upload of \(change.mark)")
      }
    }
  }
}

extension JSONNode {
  /// A value as a row shows it: complex values with their members as texts.
  var rowText: String {
    guard let members else { return plainText }
    return "{" + members.map { "\"\($0.name)\":\"\($0.value.plainText)\"" }.joined(separator: ",") + "}"
  }
}
