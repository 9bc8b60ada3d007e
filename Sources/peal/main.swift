print("peal")
