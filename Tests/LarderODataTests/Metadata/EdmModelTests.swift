import LarderOData
import Testing

@Suite("Edm model created from schemas", .timeLimit(.minutes(5)))
struct EdmModelTests {
  @Test(
    "A type reference reads back from its text",
    arguments: [
      "Edm.Int32", "Collection(Edm.String)", "NS.T", "Collection(NS.T)", "Edm.Untyped", "Collection(Edm.EntityType)",
    ])
  func typeReference(_ text: String) {
    #expect(EdmTypeReference(text).description == text)
  }

  @Test("Collections of collections are not followed, however long the text")
  func nestedCollections() {
    let text = String(repeating: "Collection(", count: 100_000) + "Edm.Int32" + String(repeating: ")", count: 100_000)
    let type = EdmTypeReference(text)
    #expect(type.isCollection && type.item.name?.hasPrefix("Collection(") == true)
  }

  @Test("Models of equal schemas are equal, and names resolve by namespace and alias")
  func equality() {
    var schema = EdmSchema(namespace: "A.B", alias: "x")
    schema.entityTypes = [EdmEntityType(namespace: "A.B", name: "T")]
    let model = EdmModel(version: .v4, schemas: [schema])
    #expect(model == EdmModel(version: .v4, schemas: [schema]))
    #expect(model != EdmModel(version: .v401, schemas: [schema]))
    #expect(model.entityType("x.T") == model.entityType("A.B.T") && model.entityType("x.T") != nil)
    #expect(model.resolve("x.T") == "A.B.T" && model.resolve("y.T") == "y.T" && model.resolve("T") == "T")
    #expect(model.entityType("B.T") == nil && model.structure("nothing") == nil && model.entitySet("S") == nil)
  }

  @Test("Names of all containers are found: the default plainly, the others by prefix")
  func containers() {
    var first = EdmEntityContainer(namespace: "N", name: "First")
    first.entitySets = [EdmEntitySet(name: "S", entityType: "N.A")]
    var second = EdmEntityContainer(namespace: "N", name: "Second")
    second.entitySets = [EdmEntitySet(name: "S", entityType: "N.B"), EdmEntitySet(name: "T", entityType: "N.B")]
    second.isDefault = true
    second.extends = "N.Second"
    var schema = EdmSchema(namespace: "N")
    schema.containers = [first, second]
    let model = EdmModel(version: .v3, schemas: [schema])
    #expect(model.entitySet("S")?.entityType == "N.B" && model.entitySet("First.S")?.entityType == "N.A")
    #expect(model.entitySet("T")?.entityType == "N.B" && model.defaultContainer?.name == "Second")
  }
}
