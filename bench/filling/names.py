"""The goods, staff and customers of the demo business."""

STORES = ("Tillhouse Yaba", "Tillhouse Lekki", "Tillhouse Ikeja")

STAFF = ("Amaka Obi", "Tunde Bakare", "Ngozi Eze", "Femi Adewale", "Halima Musa", "Emeka Okoro")

TAGS = ("VIP", "Catering", "Office", "Birthday", "Staff meal", "Wedding", "Rush", "Feedback")

NOTES = (
    "No pepper, please",
    "Extra napkins",
    "Call on arrival",
    "Leave it at the gate",
    "Pack the soup apart",
    "Birthday: a candle if there is one",
)

REASONS = (
    "Customer changed their mind",
    "Entered twice",
    "Kitchen had run out",
    "Customer could not be reached",
    "Wrong branch",
)

# Category → dishes, price from, price to, tax rate; a comma parts the dishes.
MENU: tuple[tuple[str, str, int, int, str], ...] = (
    ("Rice", "Jollof rice, Fried rice, Ofada rice, Coconut rice, White rice and stew, Basmati "
     "rice, Native jollof, Rice and beans, Palm oil rice, Party jollof, Seafood rice, Chinese "
     "rice", 1500, 4500, "0"),
    ("Swallow", "Pounded yam, Amala, Eba, Fufu, Semovita, Wheat, Starch, Tuwo shinkafa, Oatmeal "
     "swallow, Plantain swallow", 500, 1500, "0"),
    ("Soups", "Egusi soup, Ogbono soup, Afang soup, Edikang ikong, Oha soup, Bitterleaf soup, "
     "White soup, Ewedu and gbegiri, Efo riro, Okra soup, Banga soup, Fisherman soup, Pepper "
     "soup, Goat meat pepper soup, Catfish pepper soup, Nsala soup", 1800, 6500, "0"),
    ("Grills", "Suya, Grilled chicken, Grilled croaker, Grilled catfish, Asun, Gizdodo, Turkey "
     "wings, Beef kebab, Chicken kebab, Prawn skewers, Lamb chops, Barbecue ribs, Half chicken, "
     "Whole chicken, Roasted bole and fish", 1500, 14000, "7.5"),
    ("Proteins", "Fried chicken, Fried beef, Goat meat, Ponmo, Shaki, Fried fish, Stock fish, "
     "Boiled egg, Fried turkey, Snail, Assorted meat, Croaker, Titus fish, Prawns",
     400, 5500, "0"),
    ("Snacks", "Meat pie, Chicken pie, Sausage roll, Scotch egg, Puff puff, Samosa, Spring roll, "
     "Fish roll, Egg roll, Doughnut, Chin chin, Plantain chips, Akara, Moi moi, Buns, Small "
     "chops", 300, 3500, "7.5"),
    ("Breakfast", "Pancakes, Omelette, Yam and egg, Bread and egg, Akamu and akara, Oats, Full "
     "breakfast, Toast, Waffles, French toast, Boiled yam, Fried plantain and egg",
     900, 5000, "7.5"),
    ("Pasta and noodles", "Spaghetti bolognese, Jollof spaghetti, Stir-fry noodles, Macaroni, "
     "Alfredo pasta, Seafood pasta, Indomie special, Singapore noodles, Creamy penne, Lasagne",
     1500, 6500, "7.5"),
    ("Burgers and wraps", "Beef burger, Chicken burger, Cheese burger, Double burger, Beef "
     "shawarma, Chicken shawarma, Mixed shawarma, Club sandwich, Fish burger, Veggie wrap, "
     "Hot dog, Tuna sandwich", 1800, 6000, "7.5"),
    ("Pizza", "Margherita, Pepperoni, Chicken barbecue pizza, Suya pizza, Veggie pizza, Meat "
     "feast, Hawaiian, Seafood pizza", 3500, 9500, "7.5"),
    ("Salads and sides", "Coleslaw, Garden salad, Chicken salad, Fruit salad, Fried plantain, "
     "French fries, Yam fries, Sweet potato fries, Mashed potatoes, Steamed vegetables, "
     "Caesar salad, Onion rings, Garlic bread, Boiled plantain", 500, 3500, "7.5"),
    ("Soft drinks", "Coca-Cola, Fanta, Sprite, Bottled water, Malt, Bitter lemon, Tonic, "
     "Ginger ale, Energy drink, Soda water, Yoghurt drink, Iced tea, La Casera, Cranberry juice",
     300, 1200, "7.5"),
    ("Juices", "Zobo, Kunu, Orange juice, Pineapple juice, Watermelon juice, Mango smoothie, "
     "Chapman, Tigernut milk, Banana smoothie, Green smoothie, Pawpaw juice, Mixed berries, "
     "Carrot juice, Lemonade", 700, 3000, "7.5"),
    ("Coffee and tea", "Espresso, Cappuccino, Latte, Americano, Mocha, Hot chocolate, Green tea, "
     "Black tea, Ginger tea, Iced latte, Flat white, Macchiato", 700, 2800, "7.5"),
    ("Desserts", "Chocolate cake, Red velvet cake, Vanilla cake, Ice cream, Cheesecake, Banana "
     "bread, Brownie, Cupcake, Parfait, Fruit tart, Milkshake, Carrot cake, Meringue, Tiramisu",
     800, 4500, "7.5"),
    ("Platters", "Family platter, Party platter, Grill platter, Seafood platter, Small chops "
     "tray, Fruit platter, Breakfast tray, Rice tray", 9000, 45000, "7.5"),
)  # fmt: skip

# Categories whose first dishes come in sizes.
SIZES = {
    "Pizza": (("Medium", 0), ("Large", 2500)),
    "Soft drinks": (("35 cl", 0), ("50 cl", 150)),
    "Coffee and tea": (("Small", 0), ("Large", 500)),
    "Rice": (("Regular", 0), ("Large", 1000)),
}
SIZED_DISHES = 6

FIRST = (
    "Ada", "Chidi", "Ngozi", "Emeka", "Amaka", "Tunde", "Bola", "Sade", "Femi", "Yemi", "Kemi",
    "Ife", "Dayo", "Seun", "Uche", "Obinna", "Chioma", "Nneka", "Ifeoma", "Kelechi", "Zainab",
    "Aisha", "Musa", "Ibrahim", "Fatima", "Halima", "Sani", "Umar", "Hauwa", "Blessing", "Grace",
    "Joy", "Peace", "Victor", "Samuel", "David", "Esther", "Ruth", "Daniel", "Michael", "Tobi",
    "Damilola", "Temitope", "Folake", "Gbenga", "Efe", "Ese", "Oghene", "Ebere", "Chinedu",
)  # fmt: skip
LAST = (
    "Okafor", "Eze", "Obi", "Nwosu", "Okeke", "Adeyemi", "Adebayo", "Ogunleye", "Balogun",
    "Bakare", "Adewale", "Akinola", "Oladipo", "Ojo", "Afolabi", "Bello", "Musa", "Abubakar",
    "Danjuma", "Garba", "Yusuf", "Lawal", "Mohammed", "Okoro", "Udo", "Etim", "Bassey", "Effiong",
    "Osagie", "Igbinedion", "Omoregie", "Ekpo", "Nnamdi", "Chukwu", "Anyanwu", "Onyeka", "Ibe",
    "Uzor", "Amadi", "Dike", "Johnson", "Williams", "Cole", "Thomas", "George", "Briggs", "Wokoma",
    "Dokubo", "Tamuno", "Ogbonna", "Ezeani", "Nwachukwu", "Olaniyan", "Sowande", "Fashola",
)  # fmt: skip
