import Testing

@testable import LarderOData

@Suite("V4 deltas", .timeLimit(.minutes(5)))
struct PayloadDeltaTests {
  @Test("The forms of 4.0 (JSON Format 4.0 §14)")
  func v40() throws {
    let text = ##"""
      {"@odata.context":"http://h/$metadata#Customers/$delta","@odata.count":5,"value":[
       {"@odata.id":"Customers('BOTTM')","ContactName":"Susan"},
       {"@odata.context":"#Customers/$deletedLink","source":"Customers('A')","relationship":"Orders","target":"Orders(1)"},
       {"@odata.context":"#Customers/$link","source":"Customers('B')","relationship":"Orders","target":"Orders(2)"},
       {"@odata.context":"#Orders/$entity","@odata.id":"Orders(3)","Ship":{"City":"X"}},
       {"@odata.context":"#Customers/$deletedEntity","id":"Customers('ANTON')","reason":"deleted"}],
       "@odata.deltaLink":"Customers?$deltatoken=1"}
      """##
    let delta = try #require(try readPayload(text).delta)
    #expect(delta.deltaLink == "Customers?$deltatoken=1")
    #expect(delta.count == 5)
    #expect(delta.items.count == 5)
    #expect(
      delta.items[1] == .deletedLink(.init(source: "Customers('A')", relationship: "Orders", target: "Orders(1)")))
    #expect(delta.items[2] == .addedLink(.init(source: "Customers('B')", relationship: "Orders", target: "Orders(2)")))
    guard case .entity(let order) = delta.items[3], case .deletedEntity(let gone) = delta.items[4] else {
      Issue.record("\(delta.items)")
      return
    }
    #expect(order.context == "#Orders/$entity")
    #expect(gone.id == "Customers('ANTON')")
    #expect(gone.removal == .deleted)
    #expect(gone.properties.isEmpty)
  }

  @Test("The forms of 4.01 (JSON Format 4.01 §15), nested deltas among them")
  func v401() throws {
    let text = ##"""
      {"@context":"#Customers/$delta","value":[
       {"@removed":{"reason":"changed"},"@id":"Customers(1)","Key":"1"},
       {"@removed":{},"@id":"Customers(2)"},
       {"@id":"Customers(3)","Orders@delta":[{"@removed":{"reason":"deleted"},"@id":"Orders(1)"},{"@id":"Orders(2)"}]}],
       "@nextLink":"n"}
      """##
    let delta = try #require(try readPayload(text).delta)
    guard case .deletedEntity(let changed) = delta.items[0], case .deletedEntity(let bare) = delta.items[1],
      case .entity(let parent) = delta.items[2]
    else {
      Issue.record("\(delta.items)")
      return
    }
    #expect(changed.removal == .changed)
    #expect(changed["Key"] == .string("1"))
    #expect(bare.removal == .other(nil))
    guard case .delta(let orders)? = parent.navigationLink("Orders")?.content else {
      Issue.record("\(parent)")
      return
    }
    #expect(orders.items.count == 2)
  }

  @Test("Removed rows without a delta context are not treated as entities")
  func removedInCollection() throws {
    let text =
      ##"{"@odata.context":"#users","value":[{"id":"a","@removed":{"reason":"changed"}}],"@odata.deltaLink":"d"}"##
    #expect(try readPayload(text).delta?.items.count == 1)
  }

  @Test("A link without its ends is rejected with its position")
  func broken() {
    let text = ##"{"@odata.context":"#C/$delta","value":[{"ID":"1"},{"@odata.context":"#C/$link","source":"a"}]}"##
    guard case .failure(let error)? = outcome([Array(text.utf8)]) else {
      Issue.record("not rejected")
      return
    }
    #expect(error.path == "$.value[1]")
    #expect(error.offset == 50)
  }
}
