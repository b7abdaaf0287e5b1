import LarderHTTP
import LarderOData
package import LarderTestSupport

/// Other clients of the service, which edit, delete, create anew and link entities between the requests of the stores.
package enum SecondWriter {
  package static let name = "other"

  /// Does one thing by chance; returns what it was.
  package static func act(on service: inout ModelService, using random: inout PrintedSeed) -> String {
    func one<Value>(_ values: [Value]) -> Value? {
      guard let last = values.last else { return nil }
      // What was made last is what stores are about to look up.
      return random.next() % 2 == 0 ? last : values[Int(random.next() % UInt64(values.count))]
    }
    func names(_ set: String) -> [ModelService.Name] { service.entities.keys.filter { $0.set == set }.sorted() }
    let word = "w" + String(random.next() % 100_000, radix: 36)
    let order = one(names("Orders"))
    switch random.next() % 13 {
    case 0...3:
      let slot = ["Name", "Note", "Name", "Stock"][Int(random.next() % 4)]
      let value = slot == "Stock" ? String(random.next() % 9) : "\"\(word)\""
      return send("PATCH", order.map(\.description), "{\"\(slot)\":\(value)}", &service)
    case 4: return send("PATCH", one(names("Items")).map(\.description), "{\"Text\":\"\(word)\"}", &service)
    case 5: return send("DELETE", order.map(\.description), "", &service)
    case 6: return send("DELETE", one(names("Items")).map(\.description), "", &service)
    case 7:
      guard let order else { return "nothing" }
      _ = send("DELETE", order.description, "", &service)
      return "again: " + send("POST", "Orders", "{\"ID\":\(order.key),\"Name\":\"\(word)\"}", &service)
    case 8: return send("POST", "Orders", "{\"Name\":\"\(word)\",\"Stock\":1}", &service)
    case 9: return send("POST", order.map { "\($0)/Items" }, "{\"Text\":\"\(word)\"}", &service)
    case 10 where service.kind.hasLinks:
      let buyer = one(names("Buyers")).map(\.description) ?? ""
      return send("PUT", order.map { link($0, "Buyer", service) }, reference(buyer, service), &service)
    case 11 where service.kind.hasLinks:
      let tag = one(names("Tags")).map(\.description) ?? ""
      return send("POST", order.map { link($0, "Tags", service) }, reference(tag, service), &service)
    case 10...11 where service.kind.hasMedia:
      return send("PUT", one(names("Photos")).map { "\($0)/$value" }, word, &service)
    case 12 where service.kind.hasMedia:
      return send("PATCH", one(names("Photos")).map(\.description), "{\"Name\":\"\(word)\"}", &service)
    default: return send("PATCH", order.map(\.description), "{\"Note\":\"\(word)\"}", &service)
    }
  }

  /// One of the last things that a store has done, of effects from a number on: often the last; of some kinds alone.
  private static func one(
    of store: String, since number: Int, _ kinds: Set<ModelService.Effect.Kind>? = nil, on service: ModelService,
    using random: inout PrintedSeed
  ) -> ModelService.Effect? {
    let all = service.effects.dropFirst(number).filter { $0.actor == store && kinds?.contains($0.kind) ?? true }
    guard let last = all.last else { return nil }
    return random.next() % 2 == 0 ? last : all[Int(random.next() % UInt64(all.count))]
  }

  /// Deletes what a store has made, of effects from a number on.
  package static func remove(
    what store: String, since number: Int, on service: inout ModelService, using random: inout PrintedSeed
  ) -> String {
    let effect = one(of: store, since: number, [.create], on: service, using: &random)
    return send("DELETE", effect?.entity.description, "", &service)
  }

  /// Changes what a store has changed last, of effects from a number on: nothing where it has changed nothing. What it has
  /// deleted is created anew.
  package static func touch(
    what store: String, since number: Int, _ member: String?, on service: inout ModelService,
    using random: inout PrintedSeed
  ) -> String {
    guard let effect = one(of: store, since: number, on: service, using: &random),
      let schema = ModelSchema.set(effect.entity.set)
    else { return "nothing" }
    let word = "w" + String(random.next() % 100_000, radix: 36)
    guard service.entities[effect.entity] != nil else {
      guard effect.kind == .delete, schema.name == "Orders" || schema.name == "Items" else { return "nothing" }
      let order = service.entities.keys.filter { $0.set == "Orders" }.min()
      let inner =
        schema.name == "Items" ? order.map { "\"Text\":\"\(word)\",\"Order_ID\":\($0.key)" } : "\"Name\":\"\(word)\""
      return "again: "
        + send("POST", schema.name, inner.map { "{\"ID\":\(effect.entity.key),\($0)}" } ?? "{}", &service)
    }
    if effect.kind == .media { return send("PUT", "\(effect.entity)/$value", word, &service) }
    if member == "Buyer", schema.name == "Orders", effect.isChange {
      return setBuyer(effect.entity, &service, using: &random)
    }
    if effect.overwritten["Buyer"] != nil, random.next() % 4 != 0 {
      let line = setBuyer(effect.entity, &service, using: &random)
      guard random.next() % 3 != 0 else { return line }
      return line + ", " + send("PATCH", effect.entity.description, "{\"Name\":\"\(word)\"}", &service)
    }
    if schema.name == "Places" {
      return send(
        "PATCH", effect.entity.description, "{\"Where\":{\"City\":\"\(word)\",\"Street\":\"street\"}}", &service)
    }
    let slots = effect.overwritten.keys.filter { schema.texts.contains($0) }.sorted() + schema.texts
    let slot = slots[Int(random.next() % UInt64(slots.count))]
    return send("PATCH", effect.entity.description, "{\"\(slot)\":\"\(word)\"}", &service)
  }

  private static func setBuyer(
    _ order: ModelService.Name, _ service: inout ModelService, using random: inout PrintedSeed
  ) -> String {
    let now = service.entities[order]?.links["Buyer"]?.first
    let others = (1...3).map { ModelService.Name("Buyers", "\($0)") }.filter { $0 != now }
    let buyer = others[Int(random.next() % UInt64(others.count))].description
    return send("PUT", link(order, "Buyer", service), reference(buyer, service), &service)
  }

  private static func link(_ name: ModelService.Name, _ member: String, _ service: ModelService) -> String {
    service.kind.isV2 ? "\(name)/$links/\(member)" : "\(name)/\(member)/$ref"
  }

  private static func reference(_ path: String, _ service: ModelService) -> String {
    service.kind.isV2 ? "{\"uri\":\"\(ModelService.root)\(path)\"}" : "{\"@odata.id\":\"\(path)\"}"
  }

  private static func send(
    _ method: String, _ path: String?, _ body: String, _ service: inout ModelService
  ) -> String {
    guard let path else { return "nothing" }
    let request = ModelRequest(method, path, fields: method == "POST" ? [:] : [.ifMatch: "*"], body: Array(body.utf8))
    let response = service.respond(to: request, from: name)
    return "\(method) \(path) \(body) -> \(response.status)"
  }
}
