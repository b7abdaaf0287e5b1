import LarderOData

/// A shop: derived types, complex values flattened and in collections, enumerations, open types, containment, many-to-many,
/// constraints, a singleton.
enum QueryModel {
  static let shop: EdmModel = {
    do {
      return try CSDLJSONReader.read(Array(document.utf8))
    } catch {
      // Every test would fail: an empty model says so.
      print("The model of the tests: \(error)")
      return EdmModel(version: .v401, schemas: [])
    }
  }()

  static let binder = ODataBinder(model: shop)
  static let parser = ODataParser(.v401)

  private static let document = """
    {"$Version":"4.01","$EntityContainer":"Shop.C",
     "Shop":{
     "Color":{"$Kind":"EnumType","Red":0,"Green":1,"Blue":2},
     "Traits":{"$Kind":"EnumType","$IsFlags":true,"Plain":0,"New":1,"Sale":2,"Rare":4},
     "Weight":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.Decimal"},
     "Address":{"$Kind":"ComplexType","City":{"$Nullable":true},"Zip":{"$Type":"Edm.Int32","$Nullable":true}},
     "Abroad":{"$Kind":"ComplexType","$BaseType":"Shop.Address","Land":{"$Nullable":true}},
     "Maker":{"$Kind":"ComplexType","Name":{"$Nullable":true},"Rate":{"$Type":"Edm.Double","$Nullable":true},
       "Site":{"$Type":"Shop.Address","$Nullable":true}},
     "Category":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Int32"},"Name":{"$Nullable":true},
       "ParentID":{"$Type":"Edm.Int32","$Nullable":true},
       "Parent":{"$Kind":"NavigationProperty","$Type":"Shop.Category","$Nullable":true,"$Partner":"Children",
         "$ReferentialConstraint":{"ParentID":"ID"}},
       "Children":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"Shop.Category","$Partner":"Parent"},
       "Products":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"Shop.Product","$Partner":"Category"}},
     "Product":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Int32"},"Name":{"$Nullable":true},
       "Price":{"$Type":"Edm.Decimal","$Nullable":true,"$Scale":"variable"},"Rating":{"$Type":"Edm.Int32","$Nullable":true},
       "Stock":{"$Type":"Edm.Int16"},"Big":{"$Type":"Edm.Int64","$Nullable":true},
       "Score":{"$Type":"Edm.Double","$Nullable":true},"Color":{"$Type":"Shop.Color","$Nullable":true},
       "Traits":{"$Type":"Shop.Traits","$Nullable":true},"Weight":{"$Type":"Shop.Weight","$Nullable":true,"$Scale":"variable"},
       "Active":{"$Type":"Edm.Boolean","$Nullable":true},"Made":{"$Type":"Edm.DateTimeOffset","$Nullable":true},
       "Day":{"$Type":"Edm.Date","$Nullable":true},"Life":{"$Type":"Edm.Duration","$Nullable":true},
       "Code":{"$Type":"Edm.Guid","$Nullable":true},"Tags":{"$Collection":true},
       "Numbers":{"$Collection":true,"$Type":"Edm.Int32"},"Home":{"$Type":"Shop.Address","$Nullable":true},
       "Places":{"$Collection":true,"$Type":"Shop.Address"},"Photo":{"$Type":"Edm.Stream"},
       "At":{"$Type":"Edm.TimeOfDay","$Nullable":true},"Ratio":{"$Type":"Edm.Single","$Nullable":true},
       "Bytes":{"$Type":"Edm.Binary","$Nullable":true},"Maker":{"$Type":"Shop.Maker","$Nullable":true},
       "CategoryID":{"$Type":"Edm.Int32","$Nullable":true},
       "Category":{"$Kind":"NavigationProperty","$Type":"Shop.Category","$Nullable":true,"$Partner":"Products",
         "$ReferentialConstraint":{"CategoryID":"ID"}},
       "Friends":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"Shop.Product"}},
     "Special":{"$Kind":"EntityType","$BaseType":"Shop.Product","Discount":{"$Type":"Edm.Int32","$Nullable":true},
       "Best":{"$Kind":"NavigationProperty","$Type":"Shop.Product","$Nullable":true}},
     "Order":{"$Kind":"EntityType","$Key":["ID"],"$OpenType":true,"ID":{},"Total":{"$Type":"Edm.Decimal","$Scale":"variable"},
       "Items":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"Shop.Item","$ContainsTarget":true}},
     "Item":{"$Kind":"EntityType","$Key":["No"],"No":{"$Type":"Edm.Int32"},"Count":{"$Type":"Edm.Int32"},
       "ProductID":{"$Type":"Edm.Int32"},
       "Product":{"$Kind":"NavigationProperty","$Type":"Shop.Product","$Nullable":true,
         "$ReferentialConstraint":{"ProductID":"ID"}}},
     "C":{"$Kind":"EntityContainer",
       "Categories":{"$Collection":true,"$Type":"Shop.Category",
         "$NavigationPropertyBinding":{"Products":"Products","Parent":"Categories","Children":"Categories"}},
       "Products":{"$Collection":true,"$Type":"Shop.Product",
         "$NavigationPropertyBinding":{"Category":"Categories","Friends":"Products","Shop.Special/Best":"Products"}},
       "Orders":{"$Collection":true,"$Type":"Shop.Order","$NavigationPropertyBinding":{"Items/Product":"Products"}},
       "Favourite":{"$Type":"Shop.Product","$NavigationPropertyBinding":{"Category":"Categories"}}}}}
    """

  /// Binds a URL relative to the service's root.
  static func bind(_ url: String) throws -> ODataBoundURL {
    try binder.bind(parser.relativeURL(url), text: url)
  }
}
