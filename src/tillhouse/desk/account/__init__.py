"""The pages of the person: password, devices, appearance, businesses and stores."""
