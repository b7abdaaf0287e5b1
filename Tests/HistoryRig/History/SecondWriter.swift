import HTTPCore
import OData
package import TestSupport

/// Other clients of the service, which edit, delete, create anew and link entities between the requests of the stores.
package enum SecondWriter {
  package static let name = "other"

  /// Does one thing by chance; answers what it was.
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

  /// Changes what a store has changed last, of effects from a number on: nothing where it has changed nothing.
  package static func touch(
    what store: String, since number: Int, _ member: String?, on service: inout ModelService,
    using random: inout PrintedSeed
  ) -> String {
    guard let effect = service.effects.dropFirst(number).last(where: { $0.actor == store }),
      let schema = ModelSchema.set(effect.entity.set), service.entities[effect.entity] != nil
    else { return "nothing" }
    let word = "w" + String(random.next() % 100_000, radix: 36)
    if effect.kind == .media { return send("PUT", "\(effect.entity)/$value", word, &service) }
    if member == "Buyer", schema.name == "Orders", effect.isChange {
      let buyer = "Buyers(\(1 + random.next() % 3))"
      return send("PUT", link(effect.entity, "Buyer", service), reference(buyer, service), &service)
    }
    if schema.name == "Places" {
      return send(
        "PATCH", effect.entity.description, "{\"Where\":{\"City\":\"\(word)\",\"Street\":\"street\"}}", &service)
    }
    let slots = effect.overwritten.keys.filter { schema.texts.contains($0) }.sorted() + schema.texts
    let slot = slots[Int(random.next() % UInt64(slots.count))]
    return send("PATCH", effect.entity.description, "{\"\(slot)\":\"\(word)\"}", &service)
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
