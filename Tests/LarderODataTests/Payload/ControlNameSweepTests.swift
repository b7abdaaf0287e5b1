import Testing

@testable import LarderOData

/// Each name that a protocol version defines, with each kind of JSON value, in each object of some
/// payloads: reading always ends with a payload or with a typed error.
@Suite("Control names with values of any kind", .timeLimit(.minutes(5)))
struct ControlNameSweepTests {
  private static let controls = [
    "context", "metadata", "metadataEtag", "type", "count", "nextLink", "deltaLink", "delta", "id", "etag", "editLink",
    "readLink", "selfLink", "navigationLink", "navigationLinkUrl", "associationLink", "associationLinkUrl",
    "mediaReadLink", "mediaEditLink", "mediaContentType", "mediaEtag", "bind", "removed", "null", "error",
    "collectionAnnotations",
  ]

  /// V1 to V3 verbose, with the members of `__metadata`.
  private static let verbose = [
    "__metadata", "__deferred", "__mediaresource", "__count", "__next", "__delta", "d", "results", "uri", "url", "id",
    "type", "etag", "deleted", "media_src", "edit_media", "content_type", "media_etag", "actions", "functions",
    "properties", "EntitySets", "error",
  ]

  /// What means something by its plain name in V4: rows, links and removals of 4.0's deltas, errors, service documents.
  private static let plain = [
    "value", "reason", "source", "relationship", "target", "name", "kind", "title", "code", "message", "details",
    "innererror", "#Act", "@A.B", "P@A.B",
  ]

  static let names: [String] =
    verbose + plain
    + controls.flatMap { ["odata." + $0, "P@odata." + $0, "@odata." + $0, "@" + $0, "P@" + $0] }

  /// The kinds of JSON value; arrays and objects also with what some control names look for inside.
  static let values = [
    "null", "true", "-1.5e3", "\"#Collection(N.T)\"", "[1]", "[{}]", "{}",
    "{\"type\":{},\"reason\":{},\"__metadata\":{\"type\":[1]},\"uri\":[],\"results\":[{}]}",
  ]

  static let payloads = [
    ##"{"@odata.context":"$metadata#C/$delta","value":[{"@odata.context":"#C/$deletedEntity","id":"i","reason":"deleted"}]}"##,
    ##"{"@odata.context":"#C/$delta","value":[{"@odata.context":"#C/$link","source":"s","relationship":"r","target":"t"}]}"##,
    ##"{"@context":"#C/$delta","value":[{"@removed":{"reason":"deleted"},"@id":"i"},{"P":1}],"@deltaLink":"d"}"##,
    ##"{"@odata.context":"#C(ID,O(ID))","value":[{"ID":1,"O":[{"ID":2}],"A":{"B":["x",null]}}],"@odata.count":1}"##,
    ##"{"value":[{"P":{"X":1},"P@odata.type":"#N.T"}]}"##,
    ##"{"@odata.context":"#C/$entity","@odata.id":"i","P":"x","L":{"@odata.id":"j"},"M":[{"Q":true}]}"##,
    ##"{"@odata.context":"#Collection($ref)","value":[{"@odata.id":"a"}]}"##,
    ##"{"@odata.context":"$metadata#$ref","@odata.id":"a"}"##,
    ##"{"@odata.context":"#Cs(1)/P","value":{"X":{"Y":1}}}"##,
    ##"{"@odata.context":"#Collection(Edm.String)","value":["a"]}"##,
    ##"{"@odata.context":"$metadata","value":[{"name":"n","kind":"EntitySet","url":"u"}]}"##,
    ##"{"odata.metadata":"$metadata#C","value":[{"P":1,"O":{"Q":2}}],"odata.nextLink":"n"}"##,
    ##"{"odata.metadata":"$metadata#C/@Element","P":1,"O":[{"Q":2}]}"##,
    ##"{"d":{"results":[{"__metadata":{"uri":"u","type":"N.T"},"P":"x","L":{"__deferred":{"uri":"l"}}}],"__count":"1"}}"##,
    ##"{"d":[{"__metadata":{"type":"N.T"},"P":{"__metadata":{"type":"N.C"},"X":1},"L":{"results":[{"Q":1}]}}]}"##,
    ##"{"d":{"__metadata":{"id":"i","actions":{"#A":[{"title":"t"}]},"properties":{"L":{"associationuri":"a"}}},"P":1}}"##,
    ##"{"d":{"P":{"__metadata":{"type":"N.C"},"City":"B"}}}"##,
    ##"{"d":{"results":["a"],"__metadata":{"type":"Collection(Edm.String)"}}}"##,
    ##"{"error":{"code":"c","message":{"lang":"en","value":"m"},"details":[{"code":"d"}],"innererror":{"x":{}}}}"##,
    ##"{"@odata.context":"$metadata#Things/$entity","ID":1,"Place":{"Floor":2},"Parts":[{"ID":3}],"Parent":{"ID":4}}"##,
  ]

  @Test("No name and value in any object crashes the process", arguments: payloads)
  func sweep(payload: String) throws {
    let tree = try JSONNode(Array(payload.utf8))
    var options = PayloadOptions()
    if payload.contains("Things") { options.model = PayloadTypingTests.model }
    for name in Self.names {
      for value in Self.values {
        let member = JSONNode.Member(name, try JSONNode(Array(value.utf8)))
        for place in 0..<tree.objectCount {
          var left = place
          var writer = JSONWriter()
          writer.node(tree.adding(member, at: &left))
          do { _ = try ODataPayload(json: writer.bytes, options: options) } catch {
            #expect(error is PayloadError, "\(String(decoding: writer.bytes, as: UTF8.self))")
          }
        }
      }
    }
  }

  @Test(
    "A text that a service sends as an object or array is reported as a value, not as text",
    arguments: [
      ##"{"@odata.context":"#C/$delta","value":[{"@removed":{"reason":{}},"@id":"A(1)"}]}"##,
      ##"{"@odata.context":"#C/$delta","value":[{"@odata.context":"#C/$deletedEntity","id":"A(1)","reason":[1]}]}"##,
    ])
  func reason(payload: String) throws {
    guard case .deletedEntity(let entity)? = try readPayload(payload).delta?.items.first else {
      Issue.record("no deleted entity")
      return
    }
    #expect(entity.removal == .other(nil) && entity.id == "A(1)")
    #expect(entity.annotations.map(\.term) + entity.properties.map(\.name) == ["reason"])
  }
}

extension JSONNode {
  /// How many objects there are in the tree, itself included.
  fileprivate var objectCount: Int {
    switch self {
    case .object(let members): members.reduce(1) { $0 + $1.value.objectCount }
    case .array(let items): items.reduce(0) { $0 + $1.objectCount }
    default: 0
    }
  }

  /// The tree with a member in the object of a number: in place of one of its name, else before the others.
  fileprivate func adding(_ member: Member, at number: inout Int) -> JSONNode {
    switch self {
    case .object(var members):
      let isHere = number == 0
      number -= 1
      for place in members.indices { members[place].value = members[place].value.adding(member, at: &number) }
      guard isHere else { return .object(members) }
      if let place = members.firstIndex(where: { $0.name == member.name }) {
        members[place] = member
      } else {
        members.insert(member, at: 0)
      }
      return .object(members)
    case .array(let items): return .array(items.map { $0.adding(member, at: &number) })
    default: return self
    }
  }
}
