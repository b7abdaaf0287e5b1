import LarderOData
import LarderService
import Testing

@testable import LarderOffline

@Suite("What of a change's content is sent, and what is rejected by name", .timeLimit(.minutes(3)))
struct ContentTableTests {
  /// The content of each kind, for the entity with the key 1.
  static let kinds = [
    ("binding", #"{"ID":1,"One@odata.bind":"Kids(1)"}"#),
    ("bindings", #"{"ID":1,"Kids@odata.bind":["Kids(1)"]}"#),
    ("binding to null", #"{"ID":1,"One@odata.bind":null}"#),
    ("binding to a number", #"{"ID":1,"One@odata.bind":5}"#),
    ("reference inline", #"{"ID":1,"One":{"@odata.id":"Kids(1)"}}"#),
    ("references inline", #"{"ID":1,"Kids":[{"@odata.id":"Kids(1)"}]}"#),
    ("binding in a complex value", #"{"ID":1,"Home":{"City":"c","Land@odata.bind":"Kids(1)"}}"#),
    ("reference in a complex value", #"{"ID":1,"Home":{"City":"c","Land":{"@odata.id":"Kids(1)"}}}"#),
    ("id of the same", #"{"@odata.id":"Things(1)","ID":1,"Name":"n"}"#),
    ("id of another", #"{"@odata.id":"Things(2)","ID":1,"Name":"n"}"#),
    ("only an id", #"{"@odata.id":"Things(1)"}"#),
    ("id in a complex value", #"{"ID":1,"Home":{"@odata.id":"Kids(1)","City":"c"}}"#),
    ("inline changes", #"{"ID":1,"Kids@delta":[{"@id":"Kids(1)"},{"@removed":{"reason":"changed"},"@id":"Kids(2)"}]}"#),
    ("removed", #"{"@removed":{"reason":"deleted"},"ID":1}"#),
    ("nested removed", #"{"ID":1,"One":{"@removed":{},"@odata.id":"Kids(1)"}}"#),
    ("type of an open value", ##"{"ID":1,"Free@odata.type":"#Int64","Free":5}"##),
    ("type of an open enumeration", ##"{"ID":1,"Free@odata.type":"#N.Color","Free":"Red"}"##),
    ("type of a declared value", ##"{"ID":1,"Name@odata.type":"#String","Name":"n"}"##),
    ("annotation on the entity", #"{"@my.term":7,"ID":1}"#),
    ("annotation on a property", #"{"ID":1,"Name@my.term":7,"Name":"n"}"#),
    ("annotation on an absent property", #"{"ID":1,"Name@my.term":7}"#),
    ("annotation on a link", #"{"ID":1,"One@my.term":7,"One@odata.bind":"Kids(1)"}"#),
    ("annotation in a complex value", #"{"ID":1,"Home":{"@my.term":7,"City@my.other":8,"City":"c"}}"#),
    (
      "control information",
      ##"{"@odata.context":"$metadata#Things","@odata.etag":"W/\"1\"","@odata.readLink":"Things(1)","##
        + ##""@odata.editLink":"Things(1)","ID":1,"Kids@odata.count":2,"Kids@odata.navigationLink":"Things(1)/Kids","##
        + ##""Icon@odata.mediaReadLink":"x","#N.Do":{},"@sap.isLocal":true,"Home":{"Land@odata.navigationLink":"x","City":"c"}}"##
    ),
    ("unknown control information", #"{"ID":1,"@odata.other":1}"#),
    ("nested entity", #"{"ID":1,"One":{"ID":9,"Name":"k","@odata.etag":"x"}}"#),
    ("nested entities", #"{"ID":1,"Kids":[{"ID":9,"@my.term":1}]}"#),
    ("nested entity with another id", #"{"ID":1,"One":{"@odata.id":"Kids(2)","ID":9}}"#),
    ("no nested entities", #"{"ID":1,"Kids":[]}"#),
    ("stream", #"{"ID":1,"Icon":"AAAA"}"#),
    (
      "V2: what was read",
      #"{"__metadata":{"uri":"Things(1)","id":"http://h/s/Things(1)","type":"N.Thing","etag":"x"},"ID":1,"Name":"n","#
        + #""Kids":{"__deferred":{"uri":"Things(1)/Kids"}}}"#
    ),
    ("V2: of another", #"{"__metadata":{"uri":"Things(2)","type":"N.Thing"},"ID":1,"Name":"n"}"#),
    ("V2: binding", #"{"ID":1,"One":{"__metadata":{"uri":"Kids(1)"}}}"#),
    ("V2: bindings", #"{"ID":1,"Kids":{"results":[{"__metadata":{"uri":"Kids(1)"}}]}}"#),
    ("V2: deleted", #"{"__metadata":{"deleted":true},"ID":1}"#),
    ("binding and value", #"{"ID":1,"One@odata.bind":"Kids(1)","One":{"ID":9}}"#),
  ]

  /// What the service receives, or the part that the error names: for each kind, verb and version, the same from both
  /// stores, alone and in a change set, if the line names no store. An entity that is created has the key 7.
  static let outcomes = """
    binding
      create V2: {"ID":7,"One":{"__metadata":{"uri":"Kids(1)"}}}
      create V4+V4.01: {"ID":7,"One@odata.bind":"Kids(1)"}
      update V2: {"One":{"__metadata":{"uri":"Kids(1)"}}}
      update V4+V4.01: {"One@odata.bind":"Kids(1)"}
      action V2: ✗ Thing/One@odata.bind
      action V4+V4.01: {"Thing":{"ID":1,"One@odata.bind":"Kids(1)"}}
    bindings
      create V2: {"ID":7,"Kids":{"results":[{"__metadata":{"uri":"Kids(1)"}}]}}
      create V4+V4.01: {"ID":7,"Kids@odata.bind":["Kids(1)"]}
      update V2: {"Kids":{"results":[{"__metadata":{"uri":"Kids(1)"}}]}}
      update V4+V4.01: {"Kids@odata.bind":["Kids(1)"]}
      action V2: ✗ Thing/Kids@odata.bind
      action V4+V4.01: {"Thing":{"ID":1,"Kids@odata.bind":["Kids(1)"]}}
    binding to null
      create V2+V4+V4.01: {"ID":7,"One":null}
      update V2+V4+V4.01: {"One":null}
      action V2: ✗ Do/Thing
      action V4+V4.01: {"Thing":{"ID":1,"One":null}}
    binding to a number
      create V2+V4+V4.01: ✗ One@odata.bind
      update V2+V4+V4.01: ✗ One@odata.bind
      action V2+V4+V4.01: ✗ Thing/One@odata.bind
    reference inline
      create V2: {"ID":7,"One":{"__metadata":{"uri":"Kids(1)"}}}
      create V4: {"ID":7,"One@odata.bind":"Kids(1)"}
      create V4.01 offline: {"ID":7,"One@odata.bind":"Kids(1)"}
      create V4.01 online: {"ID":7,"One":{"@id":"Kids(1)"}}
      update V2: {"One":{"__metadata":{"uri":"Kids(1)"}}}
      update V4: {"One@odata.bind":"Kids(1)"}
      update V4.01 offline: {"One@odata.bind":"Kids(1)"}
      update V4.01 online: {"One":{"@id":"Kids(1)"}}
      action V2: ✗ Thing/One/@odata.id
      action V4: {"Thing":{"ID":1,"One@odata.bind":"Kids(1)"}}
      action V4.01: {"Thing":{"ID":1,"One":{"@id":"Kids(1)"}}}
    references inline
      create V2: {"ID":7,"Kids":{"results":[{"__metadata":{"uri":"Kids(1)"}}]}}
      create V4: {"ID":7,"Kids@odata.bind":["Kids(1)"]}
      create V4.01 offline: {"ID":7,"Kids@odata.bind":["Kids(1)"]}
      create V4.01 online: {"ID":7,"Kids":[{"@id":"Kids(1)"}]}
      update V2: {"Kids":{"results":[{"__metadata":{"uri":"Kids(1)"}}]}}
      update V4: {"Kids@odata.bind":["Kids(1)"]}
      update V4.01 offline: ✗ Kids
      update V4.01 online: {"Kids":[{"@id":"Kids(1)"}]}
      action V2: ✗ Thing/Kids/@odata.id
      action V4: {"Thing":{"ID":1,"Kids@odata.bind":["Kids(1)"]}}
      action V4.01: {"Thing":{"ID":1,"Kids":[{"@id":"Kids(1)"}]}}
    binding in a complex value
      create V2: ✗ Home/Land@odata.bind
      create V4+V4.01: {"ID":7,"Home":{"Land@odata.bind":"Kids(1)","City":"c"}}
      update V2: ✗ Home/Land@odata.bind
      update V4+V4.01: {"Home":{"Land@odata.bind":"Kids(1)","City":"c"}}
      action V2: ✗ Thing/Home/Land@odata.bind
      action V4+V4.01: {"Thing":{"ID":1,"Home":{"Land@odata.bind":"Kids(1)","City":"c"}}}
    reference in a complex value
      create V2: ✗ Home/Land/@odata.id
      create V4+V4.01: {"ID":7,"Home":{"Land@odata.bind":"Kids(1)","City":"c"}}
      update V2: ✗ Home/Land/@odata.id
      update V4+V4.01: {"Home":{"Land@odata.bind":"Kids(1)","City":"c"}}
      action V2: ✗ Thing/Home/Land/@odata.id
      action V4+V4.01: {"Thing":{"ID":1,"Home":{"Land@odata.bind":"Kids(1)","City":"c"}}}
    id of the same
      create V2+V4+V4.01: {"ID":7,"Name":"n"}
      update V2+V4+V4.01: {"Name":"n"}
      action V2: ✗ Thing/@odata.id
      action V4: {"Thing":{"@odata.id":"Things(1)","ID":1,"Name":"n"}}
      action V4.01: {"Thing":{"@id":"Things(1)","ID":1,"Name":"n"}}
    id of another
      create V2: ✗ __metadata
      create V4+V4.01: ✗ @odata.id
      update V2: ✗ __metadata
      update V4+V4.01: ✗ @odata.id
      action V2: ✗ Thing/@odata.id
      action V4: {"Thing":{"@odata.id":"Things(2)","ID":1,"Name":"n"}}
      action V4.01: {"Thing":{"@id":"Things(2)","ID":1,"Name":"n"}}
    only an id
      create V2: ✗ __metadata
      create V4+V4.01: ✗ @odata.id
      update V2+V4+V4.01: {}
      action V2: ✗ Thing/@odata.id
      action V4: {"Thing":{"@odata.id":"Things(1)"}}
      action V4.01: {"Thing":{"@id":"Things(1)"}}
    id in a complex value
      create V2+V4+V4.01: ✗ Home/@odata.id
      update V2+V4+V4.01: ✗ Home/@odata.id
      action V2: ✗ Thing/Home/@odata.id
      action V4: {"Thing":{"ID":1,"Home":{"@odata.id":"Kids(1)","City":"c"}}}
      action V4.01: {"Thing":{"ID":1,"Home":{"@id":"Kids(1)","City":"c"}}}
    inline changes
      create V2+V4+V4.01: ✗ Kids/@delta
      update V2+V4: ✗ Kids/@delta
      update V4.01 offline: ✗ Kids
      update V4.01 online: {"Kids@delta":[{"@id":"Kids(1)"},{"@removed":{"reason":"changed"},"@id":"Kids(2)"}]}
      action V2+V4+V4.01: ✗ Thing/Kids@odata.delta
    removed
      create V2+V4+V4.01: ✗ @removed
      update V2+V4+V4.01: ✗ @removed
      action V2+V4+V4.01: ✗ Thing/@odata.removed
    nested removed
      create V2+V4+V4.01: ✗ One/@removed
      update V2+V4+V4.01: ✗ One/@removed
      action V2: ✗ Thing/One/@odata.id
      action V4+V4.01: ✗ Thing/One/@odata.removed
    type of an open value
      create V2: ✗ Free
      create V4: {"ID":7,"Free@odata.type":"#Int64","Free":5}
      create V4.01: {"ID":7,"Free@type":"#Int64","Free":5}
      update V2: ✗ Free
      update V4: {"Free@odata.type":"#Int64","Free":5}
      update V4.01: {"Free@type":"#Int64","Free":5}
      action V2: ✗ Do/Thing
      action V4: {"Thing":{"ID":1,"Free@odata.type":"#Int64","Free":5}}
      action V4.01: {"Thing":{"ID":1,"Free@type":"#Int64","Free":5}}
    type of an open enumeration
      create V2: ✗ Free
      create V4: {"ID":7,"Free@odata.type":"#N.Color","Free":"Red"}
      create V4.01: {"ID":7,"Free@type":"#N.Color","Free":"Red"}
      update V2: ✗ Free
      update V4: {"Free@odata.type":"#N.Color","Free":"Red"}
      update V4.01: {"Free@type":"#N.Color","Free":"Red"}
      action V2: ✗ Thing/Free
      action V4: {"Thing":{"ID":1,"Free@odata.type":"#N.Color","Free":"Red"}}
      action V4.01: {"Thing":{"ID":1,"Free@type":"#N.Color","Free":"Red"}}
    type of a declared value
      create V2+V4+V4.01: {"ID":7,"Name":"n"}
      update V2+V4+V4.01: {"Name":"n"}
      action V2: ✗ Do/Thing
      action V4+V4.01: {"Thing":{"ID":1,"Name":"n"}}
    annotation on the entity
      create V2: ✗ @my.term
      create V4+V4.01: {"@my.term":7,"ID":7}
      update V2: ✗ @my.term
      update V4+V4.01: {"@my.term":7}
      action V2: ✗ Thing/@my.term
      action V4+V4.01: {"Thing":{"@my.term":7,"ID":1}}
    annotation on a property
      create V2: ✗ Name/@my.term
      create V4+V4.01: {"ID":7,"Name@my.term":7,"Name":"n"}
      update V2: ✗ Name/@my.term
      update V4+V4.01: {"Name@my.term":7,"Name":"n"}
      action V2: ✗ Thing/Name/@my.term
      action V4+V4.01: {"Thing":{"ID":1,"Name@my.term":7,"Name":"n"}}
    annotation on an absent property
      create V2: ✗ Name@my.term
      create V4+V4.01: {"Name@my.term":7,"ID":7}
      update V2: ✗ Name@my.term
      update V4+V4.01: {"Name@my.term":7}
      action V2: ✗ Thing/Name@my.term
      action V4+V4.01: {"Thing":{"Name@my.term":7,"ID":1}}
    annotation on a link
      create V2: ✗ One/@my.term
      create V4+V4.01: {"ID":7,"One@my.term":7,"One@odata.bind":"Kids(1)"}
      update V2: ✗ One/@my.term
      update V4+V4.01: {"One@my.term":7,"One@odata.bind":"Kids(1)"}
      action V2: ✗ Thing/One@odata.bind
      action V4+V4.01: {"Thing":{"One@my.term":7,"ID":1,"One@odata.bind":"Kids(1)"}}
    annotation in a complex value
      create V2: ✗ Home/@my.term
      create V4+V4.01: {"ID":7,"Home":{"@my.term":7,"City@my.other":8,"City":"c"}}
      update V2: ✗ Home/@my.term
      update V4+V4.01: {"Home":{"@my.term":7,"City@my.other":8,"City":"c"}}
      action V2: ✗ Thing/Home/@my.term
      action V4+V4.01: {"Thing":{"ID":1,"Home":{"@my.term":7,"City@my.other":8,"City":"c"}}}
    control information
      create V2+V4+V4.01: {"ID":7,"Home":{"City":"c"}}
      update V2+V4+V4.01: {"Home":{"City":"c"}}
      action V2: ✗ Do/Thing
      action V4+V4.01: {"Thing":{"ID":1,"Home":{"City":"c"}}}
    unknown control information
      create V2+V4+V4.01: ✗ @odata.other
      update V2+V4+V4.01: ✗ @odata.other
      action V2+V4+V4.01: ✗ Thing/@odata.other
    nested entity
      create V2+V4+V4.01: {"ID":7,"One":{"ID":9,"Name":"k"}}
      update V2+V4+V4.01 offline: ✗ One
      update V2+V4+V4.01 online: {"One":{"ID":9,"Name":"k"}}
      action V2: ✗ Do/Thing
      action V4+V4.01: {"Thing":{"ID":1,"One":{"ID":9,"Name":"k"}}}
    nested entities
      create V2: ✗ Kids/@my.term
      create V4+V4.01: {"ID":7,"Kids":[{"@my.term":1,"ID":9}]}
      update V2: ✗ Kids/@my.term
      update V4+V4.01 offline: ✗ Kids
      update V4+V4.01 online: {"Kids":[{"@my.term":1,"ID":9}]}
      action V2: ✗ Thing/Kids/@my.term
      action V4+V4.01: {"Thing":{"ID":1,"Kids":[{"@my.term":1,"ID":9}]}}
    nested entity with another id
      create V2+V4+V4.01: ✗ One/@odata.id
      update V2 offline: ✗ One
      update V2 online: {"One":{"__metadata":{"uri":"Kids(2)","type":"N.Kid"},"ID":9}}
      update V4 offline: ✗ One
      update V4 online: {"One":{"@odata.id":"Kids(2)","ID":9}}
      update V4.01 offline: ✗ One
      update V4.01 online: {"One":{"@id":"Kids(2)","ID":9}}
      action V2: ✗ Thing/One/@odata.id
      action V4: {"Thing":{"ID":1,"One":{"@odata.id":"Kids(2)","ID":9}}}
      action V4.01: {"Thing":{"ID":1,"One":{"@id":"Kids(2)","ID":9}}}
    no nested entities
      create V2: {"ID":7,"Kids":{"results":[]}}
      create V4+V4.01: {"ID":7,"Kids":[]}
      update V2 offline: ✗ Kids
      update V2 online: {"Kids":{"results":[]}}
      update V4+V4.01 offline: ✗ Kids
      update V4+V4.01 online: {"Kids":[]}
      action V2: ✗ Do/Thing
      action V4+V4.01: {"Thing":{"ID":1,"Kids":[]}}
    stream
      create V2: {"ID":7,"Icon":"AAAA"}
      create V4: ✗ Icon
      create V4.01 offline: ✗ Icon
      create V4.01 online: {"ID":7,"Icon":"AAAA"}
      update V2: {"Icon":"AAAA"}
      update V4: ✗ Icon
      update V4.01 offline: ✗ Icon
      update V4.01 online: {"Icon":"AAAA"}
      action V2: ✗ Do/Thing
      action V4: ✗ Thing/Icon
      action V4.01 offline: ✗ Icon
      action V4.01 online: {"Thing":{"ID":1,"Icon":"AAAA"}}
    binding and value
      create V2+V4+V4.01: ✗ One
      update V2+V4+V4.01: ✗ One
      action V2: ✗ Thing/One@odata.bind
      action V4+V4.01: ✗ Thing/One
    V2: what was read
      create V2: {"ID":7,"Name":"n"}
      update V2: {"Name":"n"}
    V2: of another
      create V2: ✗ __metadata
      update V2: ✗ __metadata
    V2: binding
      create V2: {"ID":7,"One":{"__metadata":{"uri":"Kids(1)"}}}
      update V2: {"One":{"__metadata":{"uri":"Kids(1)"}}}
    V2: bindings
      create V2: {"ID":7,"Kids":{"results":[{"__metadata":{"uri":"Kids(1)"}}]}}
      update V2: {"Kids":{"results":[{"__metadata":{"uri":"Kids(1)"}}]}}
    V2: deleted
      create V2: ✗ @removed
      update V2: ✗ @removed
    """

  private struct Line {
    let kind: String
    let verb: String
    let versions: [Substring]
    /// The store; nil for both.
    let store: Substring?
    let outcome: String
  }

  private static var lines: [Line] {
    var kind = ""
    return outcomes.split(separator: "\n").compactMap { text in
      guard text.hasPrefix("  "), let colon = text.firstRange(of: ": ") else {
        kind = String(text)
        return nil
      }
      let words = text[..<colon.lowerBound].split(separator: " ")
      return Line(
        kind: kind, verb: String(words[0]), versions: words[1].split(separator: "+"),
        store: words.count > 2 ? words[2] : nil, outcome: String(text[colon.upperBound...]))
    }
  }

  @Test(
    "Each kind of content in a creation, an update and an action, alone and in a change set, of both stores",
    arguments: [("V2", ODataVersion.v2), ("V4", .v4), ("V4.01", .v401)])
  func table(_ name: String, _ version: ODataVersion) async throws {
    let rig = try await ContentRig(version)
    for line in Self.lines where line.versions.contains(name[...]) {
      let json = try #require(Self.kinds.first { $0.0 == line.kind }?.1)
      let change = Self.change(line.verb, json)
      for way in ContentRig.Way.allCases where line.store.map({ way.rawValue.hasPrefix($0) }) ?? true {
        let outcome = try await rig.outcome(change.operation, change.path, change.json, way)
        let isExpected =
          line.outcome.hasPrefix("✗")
          ? outcome.hasPrefix("✗") && outcome.contains(line.outcome.dropFirst(2))
          : ContentRig.plain(outcome, isUpdate: line.verb == "update") == line.outcome
        #expect(isExpected, "\(line.kind), \(line.verb), \(name), \(way): \(outcome), not \(line.outcome)")
        if line.verb == "create" { try await rig.deleteCreated() }
      }
    }
    try await rig.store.close()
  }

  private static func change(
    _ verb: String, _ json: String
  ) -> (operation: ODataSingleRequest.Operation, path: String, json: String) {
    switch verb {
    case "create":
      (.create, "Things", json.replacing("\"ID\":1", with: "\"ID\":7").replacing("Things(1)", with: "Things(7)"))
    case "update": (.update(.patch), "Things(1)", json)
    default: (.invokeAction, "Do", #"{"Thing":\#(json)}"#)
    }
  }
}
